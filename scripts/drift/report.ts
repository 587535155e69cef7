// Whether an environment matches its state: the report, and the exit code.
import { gateNames } from "../../components/gates/registry.ts";
import { count } from "../../components/model/count.ts";
import { readRefresh } from "./engineEvents.ts";
import { driftOf, type Finding, failures, unseenOf } from "./words.ts";

/** The result of a refresh that changes nothing. */
export type Drift =
  | { readonly state: "none" }
  | { readonly state: "found"; readonly drifts: readonly string[]; readonly unseen: readonly string[] }
  /** No drift in what could be checked, but not everything could be. */
  | { readonly state: "unseen"; readonly unseen: readonly string[] }
  /** The comparison failed. */
  | { readonly state: "failed"; readonly text: string };

/** The exit codes of `npm run drift`. */
export const exitCodes: Readonly<Record<Drift["state"], number>> = { none: 0, failed: 1, found: 2, unseen: 3 };

/** Reads the event log and the output of `refresh --preview-only`. What could not be checked does not hide the rest. */
export function readDrift(log: string, output: string): Drift {
  const { resources, failed, errors, isComplete } = readRefresh(log);
  if (!isComplete || errors.length > 0 || resources.length === 0) {
    return { state: "failed", text: errors.length > 0 ? errors.join("\n") : output.trim() };
  }
  const drifts = lines(resources.flatMap(driftOf));
  const unseen = lines([...resources.flatMap(unseenOf), ...failures(failed)]);
  if (drifts.length > 0) return { state: "found", drifts, unseen };
  return unseen.length > 0 ? { state: "unseen", unseen } : { state: "none" };
}

/** Adds resources that exist and are in no state, which a refresh cannot find. */
export function withOrphans(drift: Drift, titles: readonly string[]): Drift {
  if (titles.length === 0 || drift.state === "failed") return drift;
  const more = titles.map((title) => `${title}: exists and is in no state`);
  const { drifts, unseen } = { drifts: [], unseen: [], ...drift };
  return { state: "found", drifts: [...drifts, ...more], unseen };
}

/** A line for each finding, sorted; what several gates or resources report is printed once. */
function lines(findings: readonly Finding[]): readonly string[] {
  const byWhat = new Map<string, string[]>();
  for (const { where, what } of findings) byWhat.set(what, [...(byWhat.get(what) ?? []), where]);
  return [...byWhat]
    .map(([what, where]) => ({ what, where: together(where) }))
    .sort((a, b) => a.where.localeCompare(b.where))
    .map(({ what, where }) => `${where}: ${what}`);
}

/** "gates Stages, TalosServices", "server a, server b". */
function together(where: readonly string[]): string {
  const gate = /^gate /;
  if (where.length === 1 || !where.every((one) => gate.test(one))) return [...new Set(where)].join(", ");
  const names = new Set(where.map((one) => one.replace(gate, "")));
  return `gates ${gateNames.filter((name) => names.has(name)).join(", ")}`;
}

/** The result in one line. */
export function driftHeadline(environment: string, drift: Drift): string {
  switch (drift.state) {
    case "none":
      return `${environment}: no drift`;
    case "failed":
      return `${environment}: the comparison with its state failed`;
    case "unseen":
      return `${environment}: no drift in what could be checked; ${count(drift.unseen.length, "resource")} could not be`;
    case "found":
      return `${environment}: drift: ${count(drift.drifts.length, "difference")}`;
  }
}

/** The report for the terminal. */
export function driftReport(environment: string, drift: Drift): string {
  const headline = driftHeadline(environment, drift);
  if (drift.state === "none") return headline;
  if (drift.state === "failed") return `${headline}\n\n${drift.text}`;
  const listed = (title: string, all: readonly string[]) =>
    all.length === 0 ? [] : ["", title, ...all.map((one) => `  ${one}`)];
  return [
    headline,
    ...(drift.state === "found" ? listed("Drifted:", drift.drifts) : []),
    ...listed("Could not be checked, and stays as it was:", drift.unseen),
    "",
    remedy(environment),
  ].join("\n");
}

/** What to do about it. */
export function remedy(environment: string): string {
  return `To see what 'up' would change: npm run preview -- ${environment} --refresh. To fix it: npm run up -- ${environment} --refresh.`;
}
