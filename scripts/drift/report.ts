// Whether an environment is as its state says: what is told of it, and how a run ends.
import { gateNames } from "../../components/gates/registry.ts";
import { readRefresh } from "./engineEvents.ts";
import { driftOf, type Finding, failures, unseenOf } from "./words.ts";

/** What a refresh that changes nothing found. */
export type Drift =
  | { readonly state: "none" }
  | { readonly state: "found"; readonly drifts: readonly string[]; readonly unseen: readonly string[] }
  /** No drift in what could be looked at, which is not all. */
  | { readonly state: "unseen"; readonly unseen: readonly string[] }
  /** It could not be compared at all. */
  | { readonly state: "failed"; readonly text: string };

/** How `npm run drift` ends. */
export const exitCodes: Readonly<Record<Drift["state"], number>> = { none: 0, failed: 1, found: 2, unseen: 3 };

/** Reads what `refresh --preview-only --event-log` wrote, and what it said. What nobody could look at stands in no way of the rest. */
export function readDrift(log: string, said: string): Drift {
  const { resources, failed, errors, isWhole } = readRefresh(log);
  if (!isWhole || errors.length > 0 || resources.length === 0) {
    return { state: "failed", text: errors.length > 0 ? errors.join("\n") : said.trim() };
  }
  const drifts = lines(resources.flatMap(driftOf));
  const unseen = lines([...resources.flatMap(unseenOf), ...failures(failed)]);
  if (drifts.length > 0) return { state: "found", drifts, unseen };
  return unseen.length > 0 ? { state: "unseen", unseen } : { state: "none" };
}

/** A line for each thing, sorted; what several gates or resources say of it is said once. */
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

/** One line that says it. */
export function driftHeadline(environment: string, drift: Drift): string {
  const things = (count: number) => (count === 1 ? "1 thing" : `${count} things`);
  switch (drift.state) {
    case "none":
      return `${environment}: no drift`;
    case "failed":
      return `${environment}: could not be compared with its state`;
    case "unseen":
      return `${environment}: no drift in what could be looked at; ${things(drift.unseen.length)} could not`;
    case "found":
      return `${environment}: ${things(drift.drifts.length)} drifted`;
  }
}

/** What a person reads on the terminal. */
export function driftReport(environment: string, drift: Drift): string {
  const headline = driftHeadline(environment, drift);
  if (drift.state === "none") return headline;
  if (drift.state === "failed") return `${headline}\n\n${drift.text}`;
  const listed = (title: string, all: readonly string[]) =>
    all.length === 0 ? [] : ["", title, ...all.map((one) => `  ${one}`)];
  return [
    headline,
    ...(drift.state === "found" ? listed("Drifted:", drift.drifts) : []),
    ...listed("Could not be looked at, and is kept as it was:", drift.unseen),
    "",
    remedy(environment),
  ].join("\n");
}

/** What can be done about it. */
export function remedy(environment: string): string {
  return `To see what 'up' would do about it: npm run preview -- ${environment} --refresh. To mend it: npm run up -- ${environment} --refresh.`;
}
