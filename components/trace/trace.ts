// What took how long in a run, for whoever measures it: lines of JSON in the file that SLUICE_TRACE names, and nothing without one. The state
// holds no time of the day, so this is where they are.
import { appendFileSync } from "node:fs";
import type { Clock } from "../gates/clock.ts";

/** Where a run writes it to. */
export const traceVariable = "SLUICE_TRACE";

/** What a resource did in a run. Moments are milliseconds since 1970. */
export interface TraceLine {
  /** As in the graph, without what all of ours have: `gates:NodesReady`, `talos:Bootstrap`. */
  readonly type: string;
  readonly name: string;
  readonly began: number;
  readonly ended: number;
  readonly outcome: "done" | "failed";
  /** Of the catalogue, where it failed with one. */
  readonly code?: string;
  /** Of a gate that opened: its own wait, and that of its trial where it has one. */
  readonly waits?: readonly TracedWait[];
}

/** One wait that came to its end. */
export interface TracedWait {
  readonly began: number;
  /** When all conditions held, and went on to: the beginning of the stable window. */
  readonly held: number;
  readonly opened: number;
  /** Seconds that they had to hold. */
  readonly stable: number;
}

/** Does the work of a resource, and writes down when it began and ended. `urn` is the resource's own. */
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
    const code = /\bSLU-[A-Z]\d{3}\b/.exec(error instanceof Error ? error.message : "")?.[0];
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
        waits: waits.map(({ began, held, opened, stable }) => {
          return { began: moment(began), held: moment(held), opened: moment(opened), stable };
        }),
      }),
    });
  }
}

/** A line goes out in one piece, as others write to the file, too. That it cannot is no reason for anything to fail. */
function write(line: TraceLine): void {
  const file = process.env[traceVariable];
  if (!file) return;
  try {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    console.error(`cannot write to ${traceVariable}: ${(error as Error).message}`);
  }
}

/** Of `urn:pulumi:<stack>::<project>::<type of the parent>$<type>::<name>`. */
function nameOf(urn: string): Pick<TraceLine, "type" | "name"> {
  const [types = "", name = ""] = urn.split("::").slice(-2);
  const type = types.slice(types.lastIndexOf("$") + 1);
  return { type: type.replace(/^pulumi-nodejs:dynamic\//, ""), name };
}
