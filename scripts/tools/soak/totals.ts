// The figures of recorded soaks, as docs/reliability.md has them.
import type { RecordedRun } from "./record.ts";

/** Markdown, with a line break at its end only where there is another line. */
export function totals(runs: readonly RecordedRun[]): string {
  const kills = runs.filter(({ victim }) => victim !== undefined);
  const others = runs.filter(({ victim }) => victim === undefined);
  const next = (command: "up" | "destroy") => kills.filter((run) => run.next === command);
  const faults = runs.reduce((sum, { parts, victim }) => sum + parts.length - (victim === undefined ? 0 : 1), 0);
  return [
    `**${runs.length} runs** with ${faults} faults and ${kills.length} kills, seeds ${ranges(runs)}, of ${commits(runs)}.`,
    "",
    "| | runs | with one command | of these resumed by itself | with another | never |",
    "| --- | --- | --- | --- | --- | --- |",
    row("without a kill: `up`", others),
    row("killed, then `up`", next("up")),
    row("killed, then `destroy`", next("destroy")),
    "",
    `Reported as up and not: ${count(runs, ({ untrue }) => untrue.length > 0)}. Commands that did not end: ${count(runs, ({ isHung }) => isHung)}. Lost: ${count(runs, ({ lost }) => lost.length > 0)}.`,
    times(
      "Without a kill one `up` took",
      others.filter(({ commands }) => commands === 1),
    ),
    times("With a kill all commands took", kills),
    bound(others),
    "",
    `Processes were killed during: ${during(kills)}.`,
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

function row(title: string, runs: readonly RecordedRun[]): string {
  const isOne = ({ commands }: RecordedRun) => commands === 1;
  const cells = [
    runs.length,
    count(runs, isOne),
    count(runs, (run) => isOne(run) && run.resumed > 0),
    count(runs, ({ commands }) => commands > 1),
    count(runs, ({ commands }) => commands === 0),
  ];
  return `| ${[title, ...cells].join(" | ")} |`;
}

function count(runs: readonly RecordedRun[], isOne: (run: RecordedRun) => boolean): number {
  return runs.filter(isOne).length;
}

/** Median and longest. */
function times(title: string, runs: readonly RecordedRun[]): string | undefined {
  const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b);
  const [longest] = seconds.slice(-1);
  if (longest === undefined) return undefined;
  return `${title} ${seconds[Math.floor(seconds.length / 2)]} s (median), at most ${longest} s.`;
}

/** The share of failures that this many runs cannot exclude: with it they would all succeed in one case of twenty. */
function bound(runs: readonly RecordedRun[]): string | undefined {
  if (runs.length === 0 || runs.some(({ commands }) => commands !== 1)) return undefined;
  const percent = 100 * (1 - 0.05 ** (1 / runs.length));
  return `Of ${runs.length} runs without a failure, the true share of failures may be up to ${percent.toFixed(1)} % (95 % certainty).`;
}

/** "1-3, 7" */
function ranges(runs: readonly RecordedRun[]): string {
  const seeds = [...new Set(runs.map(({ seed }) => seed))].sort((a, b) => a - b);
  const ends: [number, number][] = [];
  for (const seed of seeds) {
    const last = ends.at(-1);
    if (last !== undefined && last[1] === seed - 1) last[1] = seed;
    else ends.push([seed, seed]);
  }
  return ends.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ");
}

function commits(runs: readonly RecordedRun[]): string {
  const all = [...new Set(runs.map(({ commit }) => commit))];
  return `${all.length === 1 ? "commit" : "commits"} ${all.join(", ")}`;
}

/** The types of the steps that processes were killed during, each with how often. */
function during(kills: readonly RecordedRun[]): string {
  const counts = new Map<string, number>();
  for (const { during = [] } of kills) {
    const types = during.length > 0 ? during.map((type) => `\`${type}\``) : ["no step"];
    for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a], [b]) => a.localeCompare(b));
  return sorted.map(([type, times]) => `${type}${times > 1 ? ` ${times} times` : ""}`).join(", ") || "no step";
}
