/** The result of a part of the check. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** The counts of a single check. */
export function counted(good: boolean): Counts {
  return good ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** The counts of several together. */
export function sum(all: readonly Counts[]): Counts {
  const total = (key: keyof Counts) => all.reduce((before, counts) => before + counts[key], 0);
  return { passed: total("passed"), failed: total("failed") };
}
