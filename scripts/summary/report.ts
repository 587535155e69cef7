// The summary of an `up`, as lines: nodes, gates with their evidence, and how long it took.

import type { TraceLine } from "../../components/engine/trace.ts";
import { catalogue, type FailureCode } from "../../components/errors/catalogue.ts";
import { shortRevision } from "../../components/gates/evidenceWords.ts";
import { findGate, gateNames } from "../../components/gates/registry.ts";
import { record, text } from "../../components/model/untyped.ts";
import { type Column, table, width, wrapped } from "../base/table.ts";
import type { ExpectedNode, Run } from "./state/run.ts";
import type { RunTrace } from "./state/trace.ts";
import { delayOf, labTime, stabilitySeconds } from "./timing/timing.ts";

/** Lines that belong together; the first row of a table contains the titles of its columns. */
export interface Section {
  readonly titles?: string;
  readonly lines: readonly string[];
}

export function report(run: Run, most = width): Section[] {
  const tables = [nodeLines(run), gateLines(run)].map(([titles = "", ...lines]): Section => ({ titles, lines }));
  return [...tables, { lines: factLines(run, most) }].filter(({ lines }) => lines.length > 0);
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
    return [name, plain, address, node?.talosAddress, node?.talos, kubelet, configCell(run, one)];
  });
  return table(
    columns,
    rows.map((row) => row.map((cell) => cell || "-")),
  );
}

/** What this run did with a node's config (S1.5). */
function configCell({ expected: { clusterName }, state, trace }: Run, { name, behind }: ExpectedNode): string {
  const lineOf = (node: string) =>
    trace?.lines.findLast(
      (line) => line.type === "talos:AppliedMachineConfig" && line.name === `${clusterName}-${node}`,
    );
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
  const columns: Column[] = [{ title: "Gate" }, { title: "Evidence", gives: true }, { title: "Took", align: "right" }];
  const hasWaits = trace?.lines.some(({ waits }) => waits !== undefined) ?? false;
  if (timeline !== undefined && hasWaits) columns.push({ title: "Gate delay", align: "right" });
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
  if (gate === undefined) return ["not reached", ""];
  if (gate.drift.length > 0) return [`no longer healthy: ${gate.drift.join("; ")}`, "unchanged"];
  const evidence = findGate(name)?.words(gate.evidence) ?? "";
  if (trace !== undefined && line === undefined) return [evidence, "unchanged"];
  const delay = line && delayOf(run, line, gate);
  return [evidence, seconds(gate.waitedSeconds), delay === undefined ? "" : `${delay.toFixed(2)} s`];
}

function factLines(run: Run, most: number): string[] {
  const revision = record(run.state.gates.get("GitOpsReady")?.evidence.revisions)["flux-system"];
  const days = run.state.outputs.clientCertificateDaysLeft;
  const facts: [string, string | undefined][] = [
    ["GitOps revision", shortRevision(revision)],
    ["Client certificate", typeof days === "number" ? `valid for ${days} days` : undefined],
    ["This run", runLine(run)],
    ["Resumed", resumedLine(run)],
  ];
  const known = facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  const widest = Math.max(...known.map(([what]) => what.length));
  return known.flatMap(([what, is]) =>
    wrapped(is, most - widest - 4).map((line, place) => `  ${(place === 0 ? what : "").padEnd(widest)}  ${line}`),
  );
}

/** The times above and those of the gates are for all runs of the engine together. */
function resumedLine({ resumed = 0 }: Run): string | undefined {
  if (resumed === 0) return undefined;
  return `${resumed === 1 ? "once" : `${resumed} times`}, after transient failures`;
}

function runLine(run: Run): string | undefined {
  if (run.trace === undefined) return undefined;
  const total = (run.ended - run.trace.began - (run.askedMs ?? 0)) / 1000;
  // The time that a failed gate waited belongs to none of the parts.
  if (run.trace.lines.some(({ outcome }) => outcome === "failed")) return seconds(total);
  const stable = stabilitySeconds(run);
  const inWindows = `${seconds(stable)} in stability windows`;
  const lab = labTime(run);
  if (lab === undefined) return stable === 0 ? seconds(total) : `${seconds(total)}: ${inWindows}`;
  if (lab === 0 && stable === 0) return `${seconds(total)}, with nothing to wait for`;
  return `${seconds(total)}: ${seconds(lab)} of the lab, ${inWindows}, ${seconds(total - lab - stable)} overhead`;
}

function lineOf(trace: RunTrace | undefined, gate: string): TraceLine | undefined {
  return trace?.lines.findLast(({ type }) => type === `gates:${gate}`);
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
