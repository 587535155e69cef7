// Records how long each resource of a run took, as lines of JSON in the file that SLUICE_TRACE names; does nothing without it. The state contains no
// timestamps, so this is the only record of them.
import { appendFileSync } from "node:fs";
import { SluiceError } from "../errors/sluiceError.ts";
import type { Clock } from "../waiting/clock.ts";

/** Names the file that a run writes to. */
export const traceVariable = "SLUICE_TRACE";

/** What a resource did in a run. Times are milliseconds since 1970. */
export interface TraceLine {
  /** As in the graph, without the prefix that all dynamic resources have: `gates:NodesReady`, `talos:Bootstrap`. */
  readonly type: string;
  readonly name: string;
  readonly began: number;
  readonly ended: number;
  readonly outcome: "done" | "failed";
  /** The failure code, if it failed with one. */
  readonly code?: string;
  /** For a gate that opened: its own wait, and that of its trial if it has one. */
  readonly waits?: readonly TracedWait[];
}

/** One completed wait. */
export interface TracedWait {
  readonly began: number;
  /** When all conditions were met for good: the start of the stability window. */
  readonly held: number;
  readonly opened: number;
  /** The stability window. */
  readonly stableSeconds: number;
}

/** Does the work of a resource and records its start and end. `urn` is the resource's own. */
export async function traced<T>(
  urn: string,
  clock: Clock,
  work: (onWait: (wait: TracedWait) => void) => Promise<T>,
): Promise<T> {
  const began = clock.now();
  const waits: TracedWait[] = [];
  let outcome: Pick<TraceLine, "outcome" | "code"> = { outcome: "failed" };
  try {
    const result = await work((wait) => waits.push(wait));
    outcome = { outcome: "done" };
    return result;
  } catch (error) {
    const code = error instanceof SluiceError ? error.code : undefined;
    if (code !== undefined) outcome = { outcome: "failed", code };
    throw error;
  } finally {
    const moment = (time: number) => Math.round(performance.timeOrigin + time);
    write({
      ...nameOf(urn),
      began: moment(began),
      ended: moment(clock.now()),
      ...outcome,
      ...(waits.length > 0 && {
        waits: waits.map(({ began, held, opened, stableSeconds }) => {
          return { began: moment(began), held: moment(held), opened: moment(opened), stableSeconds };
        }),
      }),
    });
  }
}

/** Written in one call, because other processes write to the same file. A failure to write never fails the run. */
function write(line: TraceLine): void {
  const file = process.env[traceVariable];
  if (!file) return;
  try {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    console.error(`cannot write to ${traceVariable}: ${(error as Error).message}`);
  }
}

/** From `urn:pulumi:<stack>::<project>::<type of the parent>$<type>::<name>`. */
function nameOf(urn: string): Pick<TraceLine, "type" | "name"> {
  const [types = "", name = ""] = urn.split("::").slice(-2);
  const type = types.slice(types.lastIndexOf("$") + 1);
  return { type: type.replace(/^pulumi-nodejs:dynamic\//, ""), name };
}
