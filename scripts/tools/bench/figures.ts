// What a bench measures, and the figures that come from it.

export const programs = ["sluice", "plain"] as const;
export type BenchedProgram = (typeof programs)[number];

/** What each round does with each program, in this order. */
export const steps = ["up", "noop", "preview", "refresh", "destroy"] as const;
export type BenchStep = (typeof steps)[number];

/** What a command took, with everything that it started. */
export interface Usage {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

export interface BenchRun {
  readonly program: BenchedProgram;
  readonly step: BenchStep;
  readonly usage: Usage;
  /** After an `up` from nothing: seconds from the end of the command until Flux has reconciled. */
  readonly untilReconciledSeconds?: number | undefined;
  /** After an `up` from nothing: the size of the state. */
  readonly stateBytes?: number | undefined;
}

export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Undefined without values. */
export function figureOf(values: readonly number[]): Figure | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [least, most] = [sorted.at(0), sorted.at(-1)];
  if (least === undefined || most === undefined) return undefined;
  const middle = (sorted.length - 1) / 2;
  const [low = least, high = most] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (low + high) / 2, least, most };
}

/** A row of the bench's table. */
export interface Measure {
  readonly title: string;
  readonly unit: "s" | "MB" | "kB";
  /** How many times as much as the plain program Sluice may take. Default: there is no goal. */
  readonly goal?: number;
  of(run: BenchRun): number | undefined;
}

const seconds = (step: BenchStep) => (run: BenchRun) => (run.step === step ? run.usage.seconds : undefined);
const ofUp = (value: (run: BenchRun) => number | undefined) => (run: BenchRun) =>
  run.step === "up" ? value(run) : undefined;

export const measures: readonly Measure[] = [
  { title: "up from nothing", unit: "s", goal: 1.1, of: seconds("up") },
  {
    title: "up, until Flux has reconciled",
    unit: "s",
    goal: 1.1,
    of: ofUp(({ usage, untilReconciledSeconds = 0 }) => usage.seconds + untilReconciledSeconds),
  },
  { title: "up with nothing to do", unit: "s", goal: 1.2, of: seconds("noop") },
  { title: "preview", unit: "s", goal: 1.2, of: seconds("preview") },
  { title: "refresh", unit: "s", goal: 2, of: seconds("refresh") },
  { title: "destroy", unit: "s", goal: 1, of: seconds("destroy") },
  { title: "processor time of up", unit: "s", goal: 1.3, of: ofUp(({ usage }) => usage.cpuSeconds) },
  { title: "peak memory of up", unit: "MB", goal: 1.3, of: ofUp(({ usage }) => usage.peakMegabytes) },
  {
    title: "state",
    unit: "kB",
    of: ofUp(({ stateBytes }) => (stateBytes === undefined ? undefined : stateBytes / 1000)),
  },
];

/** The figure of each program, and how many times as much as the plain program Sluice takes. */
export interface Comparison {
  readonly measure: Measure;
  readonly sluice: Figure;
  readonly plain: Figure;
  readonly ratio: number;
  /** Undefined without a goal. */
  readonly isMet: boolean | undefined;
}

/** Measures without values of both programs are left out. */
export function compare(runs: readonly BenchRun[]): readonly Comparison[] {
  return measures.flatMap((measure) => {
    const figure = (program: BenchedProgram) =>
      figureOf(runs.filter((run) => run.program === program).flatMap((run) => measure.of(run) ?? []));
    const [sluice, plain] = [figure("sluice"), figure("plain")];
    if (sluice === undefined || plain === undefined) return [];
    const ratio = sluice.median / plain.median;
    return [{ measure, sluice, plain, ratio, isMet: measure.goal === undefined ? undefined : ratio <= measure.goal }];
  });
}
