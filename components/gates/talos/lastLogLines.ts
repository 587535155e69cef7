// The last lines of the logs that say more about what is unmet, for the failure of a gate.
import { type NodeAccess, type NodeClient, realAccess, using } from "../../talos/access/nodeAccess.ts";
import { maskedLine } from "../../talos/client/maskedLog.ts";
import type { Clock } from "../../waiting/clock.ts";
import { resultWithin } from "../../waiting/deadline.ts";
import type { Unmet } from "../../waiting/history.ts";
import type { TalosGateInputs } from "./nodeView.ts";

/** Of each log. */
const lineCount = 4;
const talosLog = "machined";
/** Enough to have what it wrote about one service. */
const talosLineCount = 200;
/** How many nodes are asked: their logs mostly say the same. */
const mostNodes = 3;
/** For all of them together: the gate has failed already. */
const deadlineMs = 4_000;

/** By what is unmet. A node that does not answer in time has none. */
export async function readLogs(
  unmet: readonly Unmet[],
  { nodes, credentials }: Pick<TalosGateInputs, "nodes" | "credentials">,
  clock: Clock,
  access: Pick<NodeAccess, "configured"> = realAccess,
): Promise<ReadonlyMap<Unmet, string>> {
  const wanted = unmet.flatMap((one) => {
    const { where, ...verdict } = one.verdict;
    const node = nodes.find(({ name }) => name === where);
    return "log" in verdict && verdict.log !== undefined && node !== undefined ? [{ one, node, log: verdict.log }] : [];
  });
  const read = wanted.slice(0, mostNodes).map(async ({ one, node: { name, talosAddress }, log }) => {
    const client = access.configured(talosAddress, credentials);
    const found = await resultWithin(
      clock,
      deadlineMs,
      using(client, () => lastLines(client, log)),
    );
    return found === undefined || found.lines.length === 0 ? [] : [[one, inWords(name, found)] as const];
  });
  return new Map((await Promise.all(read)).flat());
}

interface LogEnd {
  readonly log: string;
  readonly lines: readonly string[];
}

/** A service that could not be started has no log of its own: what Talos wrote about it. */
async function lastLines(client: Pick<NodeClient, "logLines">, log: string): Promise<LogEnd> {
  const options = { deadlineSeconds: deadlineMs / 1000 };
  const own = await client.logLines(log, lineCount, options).catch(() => []);
  if (own.length > 0 || log === talosLog) return { log, lines: own };
  const all = await client.logLines(talosLog, talosLineCount, options);
  const about = all.filter((line) => line.includes(log));
  return { log: talosLog, lines: (about.length > 0 ? about : all).slice(-lineCount) };
}

function inWords(node: string, { log, lines }: LogEnd): string {
  return [`${node}, ${log}:`, ...lines.map((line) => `  ${maskedLine(line)}`)].join("\n");
}
