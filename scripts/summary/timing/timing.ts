// Where the time of a run on a lab was spent. For contributors: a user can only change the stability windows.
import type { TraceLine } from "../../../components/engine/trace.ts";
import { askIntervalMs } from "../../../components/gates/kubernetes/watchApi.ts";
import { text } from "../../../components/model/untyped.ts";
import type { Run } from "../state/run.ts";
import type { OpenGate } from "../state/stackState.ts";
import type { Fact } from "../state/timeline.ts";
import { criticalPath } from "./criticalPath.ts";
import { type About, gateDelay, neededFacts, sum, windowsOf } from "./delays.ts";

/** Seconds for which gates had to stay open in this run, as the environment requires. */
export function stabilitySeconds(run: Run): number {
  return sum(Object.values(stabilityOf(run)));
}

/** The minimum seconds that the lab takes for what this run did, without the stability windows; undefined without a lab. The rest of a run is overhead. */
export function labTime(run: Run): number | undefined {
  const { trace, ended, timeline } = run;
  if (trace === undefined || timeline === undefined) return undefined;
  const isInRun = (at: number) => at >= trace.began && at <= ended;
  const facts = timeline.facts.filter(({ at }) => isInRun(timeline.started + at * 1000));
  return criticalPath(facts, stabilityOf(run)) - stabilitySeconds(run);
}

/** The delay of a gate in seconds; undefined without a lab. */
export function delayOf(run: Run, line: TraceLine, gate: OpenGate): number | undefined {
  return run.timeline && gateDelay(line, run.timeline, aboutOf(run), proofOf(gate));
}

/** What became true in the lab while a gate waited for it; nothing without a lab. */
export function factsOf(run: Run, line: TraceLine): readonly Fact[] {
  return run.timeline === undefined ? [] : neededFacts(line, run.timeline, aboutOf(run));
}

function aboutOf({ expected, state }: Run): About {
  const { server } = state.gates.get("KubernetesApi")?.evidence ?? {};
  const endpoint = URL.canParse(text(server)) ? new URL(text(server)).hostname : "";
  const atEndpoint = [...state.nodes].find(([, node]) => node.talosAddress === endpoint)?.[0];
  return {
    isControlPlane: (subject) =>
      expected.nodes.some(({ name, role }) => role === "controlplane" && isNamed(subject, name)),
    isEndpoint: (subject) => atEndpoint === undefined || isNamed(subject, atEndpoint),
  };
}

/** Seconds by gate, for those that ran. */
function stabilityOf({ trace, state }: Run): Readonly<Record<string, number>> {
  return Object.fromEntries(
    (trace?.lines ?? []).map(({ type, waits }) => {
      const gate = type.replace(/^gates:/, "");
      return [gate, windowsOf(waits) + (waits === undefined ? 0 : proofOf(state.gates.get(gate)))];
    }),
  );
}

/** Seconds until a gate has its consecutive answers. */
function proofOf(gate: OpenGate | undefined): number {
  const { answers } = gate?.inputs ?? {};
  return typeof answers === "number" ? ((answers - 1) * askIntervalMs) / 1000 : 0;
}

/** A server's name is the cluster's name and the node's name. */
function isNamed(subject: string, node: string): boolean {
  return subject === node || subject.endsWith(`-${node}`);
}
