import type { Ended } from "../workspace/run.ts";

export interface Drifted {
  readonly name: string;
  readonly type: string;
  readonly how: string;
}

/** What a refresh that changes nothing found. */
export type Drift =
  | { readonly state: "none" }
  | { readonly state: "found"; readonly resources: readonly Drifted[]; readonly text: string }
  | { readonly state: "failed"; readonly text: string };

const words: Readonly<Record<string, string>> = { update: "differs", delete: "is gone" };

/** Reads what `refresh --preview-only --expect-no-changes --diff` said. */
export function readDrift(ended: Ended): Drift {
  if (ended.code === 0) return { state: "none" };
  // By its text: the exit codes that tell the cases apart are younger than the oldest CLI that serves.
  if (!/no changes were expected/.test(ended.stderr + ended.stdout)) {
    return { state: "failed", text: `${ended.stdout}${ended.stderr}`.trim() };
  }
  return { state: "found", resources: driftedResources(ended.stdout), text: ended.stdout.trim() };
}

/** Resources with an operation of their own, each with its name from the line that has the URN. */
function driftedResources(text: string): Drifted[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const [, type, operation] = /^\s*[~+-]+ (\S+:\S+:\S+): \(([\w-]+)\)/.exec(line) ?? [];
    if (type === undefined || operation === undefined) return [];
    const urn = lines.slice(index + 1, index + 4).find((next) => next.trimStart().startsWith("[urn="));
    const name = /::([^:\]]+)\]$/.exec(urn?.trim() ?? "")?.[1] ?? "?";
    return [{ name, type, how: words[operation] ?? operation }];
  });
}

/** One line that says it. */
export function driftHeadline(environment: string, drift: Drift): string {
  if (drift.state === "none") return `${environment}: no drift`;
  if (drift.state === "failed") return `${environment}: could not be compared with its state`;
  const count = drift.resources.length;
  return `${environment}: ${count} ${count === 1 ? "resource has" : "resources have"} drifted`;
}

/** What a person reads on the terminal. */
export function driftReport(environment: string, drift: Drift): string {
  const headline = driftHeadline(environment, drift);
  if (drift.state === "none") return headline;
  if (drift.state === "failed") return `${headline}\n\n${drift.text}`;
  const list = drift.resources.map(({ name, type, how }) => `  ${name} ${how} (${type})`);
  return [`${headline}:`, ...list, "", drift.text, "", remedy(environment)].join("\n");
}

/** What can be done about drift. */
export function remedy(environment: string): string {
  return `To see what 'up' would do about it: npm run preview -- ${environment} --refresh. To mend it: npm run up -- ${environment} --refresh.`;
}
