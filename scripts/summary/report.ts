// The end of an `up`, as lines: what there is now, what was proven, and how long it took.
import { catalogue, type FailureCode } from "../../components/errors/catalogue.ts";
import { askEvery } from "../../components/gates/kubernetesApi.ts";
import { gateNames } from "../../components/gates/registry.ts";
import type { TraceLine } from "../../components/trace/trace.ts";
import { type Column, cut, table, width } from "../workspace/table.ts";
import { criticalPath } from "./criticalPath.ts";
import { type About, gateDelay, sum, windowsOf } from "./delays.ts";
import { phraseOf, short } from "./evidence.ts";
import type { Timeline } from "./facts.ts";
import { type OpenGate, record, type StackState, text } from "./stackState.ts";
import type { RunTrace } from "./trace.ts";

/** What the environment asks for. */
export interface Expected {
  readonly clusterName: string;
  readonly nodes: readonly ExpectedNode[];
  /** Gates that its chain has; those of it that there are not, have not opened. */
  readonly gates: readonly string[];
}

export interface ExpectedNode {
  readonly name: string;
  readonly role: string;
  readonly address: string;
  /** The node whose config is sent before this one's, in its lane. */
  readonly behind?: string | undefined;
}

export interface Run {
  readonly expected: Expected;
  readonly state: StackState;
  readonly trace: RunTrace | undefined;
  /** Milliseconds since 1970. */
  readonly ended: number;
  readonly timeline: Timeline | undefined;
}

/** Lines that belong together; the first of a table are the titles of its columns. */
export interface Section {
  readonly titles?: string;
  readonly lines: readonly string[];
}

export function report(run: Run): Section[] {
  const tables = [nodeLines(run), gateLines(run)].map(([titles = "", ...lines]): Section => ({ titles, lines }));
  return [...tables, { lines: factLines(run) }].filter(({ lines }) => lines.length > 0);
}

function nodeLines(run: Run): string[] {
  const { expected, state } = run;
  const titles = ["Node", "Role", "Address", "Reached at", "Talos", "Kubernetes"];
  const columns: Column[] = [...titles.map((title) => ({ title })), { title: "Config", gives: true }];
  const rows = expected.nodes.map((one) => {
    const { name, role, address } = one;
    const node = state.nodes.get(name);
    const kubelet = text(state.kubelets[name]).replace(/^v/, "");
    const plain = role === "controlplane" ? "control plane" : role;
    return [name, plain, address, node?.endpoint, node?.talos, kubelet, configCell(run, one)];
  });
  return table(
    columns,
    rows.map((row) => row.map((cell) => cell || "-")),
  );
}

/** What came of a node's config in this run (S1.5). */
function configCell({ expected: { clusterName }, state, trace }: Run, { name, behind }: ExpectedNode): string {
  const lineOf = (node: string) =>
    trace?.lines.findLast((line) => line.type === "talos:NodeConfiguration" && line.name === `${clusterName}-${node}`);
  const [line, node] = [lineOf(name), state.nodes.get(name)];
  if (line?.outcome === "failed") {
    const { code } = line;
    return code !== undefined && code in catalogue
      ? `failed: ${code} ${catalogue[code as FailureCode].title}`
      : "failed";
  }
  if (node === undefined)
    return behind !== undefined && !state.nodes.has(behind) ? `not reached: behind ${behind}` : "not reached";
  if (line === undefined) return trace === undefined ? "" : "unchanged";
  return node.attempts > 1 ? `done, ${node.attempts} tries (${node.lastError})` : "done";
}

function gateLines(run: Run): string[] {
  const { expected, state, timeline, trace } = run;
  const columns: Column[] = [{ title: "Gate" }, { title: "Saw", gives: true }, { title: "Took", align: "right" }];
  const isWaitedAt = trace?.lines.some(({ waits }) => waits !== undefined) ?? false;
  if (timeline !== undefined && isWaitedAt) columns.push({ title: "After the fact", align: "right" });
  const names = gateNames.filter((name) => expected.gates.includes(name) || state.gates.has(name));
  return table(
    columns,
    names.map((name) => [name, ...gateCells(run, name)]),
  );
}

function gateCells(run: Run, name: string): string[] {
  const { state, trace } = run;
  const gate = state.gates.get(name);
  const line = lineOf(trace, name);
  if (line?.outcome === "failed") return ["did not open: see above", seconds((line.ended - line.began) / 1000)];
  if (gate === undefined) return ["not waited at yet", ""];
  if (gate.drift.length > 0) return [`no longer so: ${gate.drift.join("; ")}`, "unchanged"];
  const saw = phraseOf(name, gate.evidence);
  if (trace !== undefined && line === undefined) return [saw, "unchanged"];
  const delay = line && delayOf(run, line, gate);
  return [saw, seconds(gate.waited), delay === undefined ? "" : `${delay.toFixed(2)} s`];
}

function factLines(run: Run): string[] {
  const revision = record(run.state.gates.get("GitOpsReady")?.evidence.revisions)["flux-system"];
  const days = run.state.outputs.clientCertificateDaysLeft;
  const facts: [string, string | undefined][] = [
    ["GitOps revision", short(revision)],
    ["Client certificate", typeof days === "number" ? `good for ${days} days` : undefined],
    ["This run", runLine(run)],
  ];
  const told = facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  const widest = Math.max(...told.map(([what]) => what.length));
  return told.map(([what, is]) => cut(`  ${what.padEnd(widest)}  ${is}`, width));
}

function runLine(run: Run): string | undefined {
  const overhead = overheadOf(run);
  if (overhead === undefined) return undefined;
  const { all, lab, held, over } = overhead;
  // The time that a gate waited in vain is nobody's overhead.
  if (run.trace?.lines.some(({ outcome }) => outcome === "failed")) return seconds(all);
  if (lab === 0 && held === 0) return `${seconds(all)}, with nothing to wait for`;
  if (lab === undefined) return held === 0 ? seconds(all) : `${seconds(all)}: ${seconds(held)} for which gates held`;
  return `${seconds(all)}: ${seconds(lab)} the lab's own, ${seconds(held)} for which gates held, ${seconds(over)} over that`;
}

export interface Overhead {
  /** Seconds of the whole run. */
  readonly all: number;
  /** Seconds for which gates had to hold, as the environment asks for. */
  readonly held: number;
  /** Seconds that the lab takes besides at the least; undefined where there is no lab. */
  readonly lab: number | undefined;
  /** What remains: engine, plugins, and what was seen late. */
  readonly over: number;
}

/** Undefined where nobody took the time. */
export function overheadOf(run: Run): Overhead | undefined {
  const { trace, ended, timeline } = run;
  if (trace === undefined) return undefined;
  const all = (ended - trace.began) / 1000;
  const windows = Object.fromEntries(
    trace.lines.map(({ type, waits }) => {
      const gate = type.replace(/^gates:/, "");
      return [gate, windowsOf(waits) + (waits === undefined ? 0 : proofOf(run.state.gates.get(gate)))];
    }),
  );
  const held = sum(Object.values(windows));
  if (timeline === undefined) return { all, held, lab: undefined, over: all - held };
  const least = criticalPath(factsOf(timeline, trace.began, ended), windows);
  return { all, held, lab: least - held, over: all - least };
}

function factsOf({ started, facts }: Timeline, from: number, to: number) {
  return facts.filter(({ at }) => started + at * 1000 >= from && started + at * 1000 <= to);
}

/** What a gate's opening came after the fact, in seconds. */
export function delayOf({ expected, state, timeline }: Run, line: TraceLine, gate: OpenGate): number | undefined {
  if (timeline === undefined) return undefined;
  const { server } = state.gates.get("KubernetesApi")?.evidence ?? {};
  const endpoint = URL.canParse(text(server)) ? new URL(text(server)).hostname : "";
  const atEndpoint = [...state.nodes].find(([, node]) => node.endpoint === endpoint)?.[0];
  const about: About = {
    isControlPlane: (subject) =>
      expected.nodes.some(({ name, role }) => role === "controlplane" && isNamed(subject, name)),
    isEndpoint: (subject) => atEndpoint === undefined || isNamed(subject, atEndpoint),
  };
  return gateDelay(line, timeline, about, proofOf(gate));
}

/** Seconds that it takes a gate to be answered so many times in a row. */
function proofOf(gate: OpenGate | undefined): number {
  const { answers } = gate?.inputs ?? {};
  return typeof answers === "number" ? ((answers - 1) * askEvery) / 1000 : 0;
}

/** A server is called as its node, with the cluster's name before it. */
function isNamed(subject: string, node: string): boolean {
  return subject === node || subject.endsWith(`-${node}`);
}

function lineOf(trace: RunTrace | undefined, gate: string): TraceLine | undefined {
  return trace?.lines.findLast(({ type }) => type === `gates:${gate}`);
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
