import { table } from "../../base/table.ts";

export interface SoakResult {
  readonly seed: number;
  /** How many times the command was typed until it succeeded, without one that was killed; 0 if it never did. */
  readonly commands: number;
  /** How often these resumed by themselves. */
  readonly resumed: number;
  /** Of all these commands. */
  readonly seconds: number;
  /** What is wrong with a cluster that was reported as up. */
  readonly untrue: readonly string[];
  /** What exists and is in no state, and what destroy left. */
  readonly lost: readonly string[];
  /** Whether a command did not end. */
  readonly isHung: boolean;
  /** The process that was killed, and what was typed afterwards. */
  readonly victim?: string;
  /** The types of the steps that the engine was at work on when it was killed. */
  readonly during?: readonly string[];
  readonly next?: "up" | "destroy";
}

/** What must never happen. A command that has to be typed again is only counted. */
export function isFailure({ commands, untrue, lost, isHung }: Omit<SoakResult, "seed">): boolean {
  return commands === 0 || untrue.length > 0 || lost.length > 0 || isHung;
}

/** What a soak of these seeds found, for a terminal. */
export function soakTable(seeds: readonly number[], results: readonly SoakResult[]): string {
  const missing = seeds.filter((seed) => !results.some((one) => one.seed === seed));
  const [killed, others] = [results.filter(wasKilled), results.filter((one) => !wasKilled(one))];
  const columns = [{ title: "" }, { title: "runs" }, { title: "share", align: "right" }, { title: "seeds" }] as const;
  const rows = [
    ...group("up with one `npm run up`", others),
    ...(["up", "destroy"] as const).flatMap((next) => {
      const those = killed.filter((one) => one.next === next);
      return those.length === 0 ? [] : group(`a kill, and then one ${next}`, those);
    }),
    row("reported as up and not", results, ({ untrue }) => untrue.length > 0),
    row("a command that did not end", results, ({ isHung }) => isHung),
    row("something was lost", results, ({ lost }) => lost.length > 0),
    ...(missing.length === 0
      ? []
      : [["without a result", `${missing.length} of ${seeds.length}`, "", missing.join(" ")]]),
  ];
  const seconds = others
    .filter(({ commands }) => commands === 1)
    .map((one) => one.seconds)
    .sort((a, b) => a - b);
  const [last = 0] = seconds.slice(-1);
  const median = seconds[Math.floor(seconds.length / 2)] ?? 0;
  return `\n${table(columns, rows, "").join("\n")}\nseconds of those up with one: median ${median}, at most ${last}\n`;
}

function wasKilled({ victim }: SoakResult): boolean {
  return victim !== undefined;
}

/** Rows of clusters for which the same was typed. */
function group(title: string, all: readonly SoakResult[]): readonly (readonly string[])[] {
  const [first = "", runs = "", share = ""] = row(title, all, ({ commands }) => commands === 1);
  return [
    [first, runs, share, ""],
    row("  of these it resumed by itself", all, ({ commands, resumed }) => commands === 1 && resumed > 0),
    row("  with another", all, ({ commands }) => commands > 1),
    row("  never", all, ({ commands }) => commands === 0),
  ];
}

function row(title: string, all: readonly SoakResult[], isOne: (result: SoakResult) => boolean): readonly string[] {
  const found = all.filter(isOne);
  const percent = all.length === 0 ? 0 : (100 * found.length) / all.length;
  const seeds = found.map(({ seed }) => seed).slice(0, 12);
  return [title, `${found.length} of ${all.length}`, `${percent.toFixed(1)} %`, seeds.join(" ")];
}
