import { resolve } from "node:path";
import { Failure } from "../../base/fail.ts";
import type { CasePart } from "./cases.ts";

export interface SoakOptions {
  /** Each cluster has one. */
  readonly seeds: readonly number[];
  /** The parts of the cases to keep. Default: all. */
  readonly only?: readonly CasePart[] | undefined;
  /** The file to which each result is added. */
  readonly record?: string | undefined;
}

/** The variable in which the command passes its options to the tests. */
export const soakVariable = "SLUICE_SOAK";

/** For the whole check, in about two minutes: each platform, a kill before up and one before destroy. `npm run unit` proves that they are that. */
const sample: SoakOptions = { seeds: [2, 12, 21] };

export function readSoakOptions(env: NodeJS.ProcessEnv): SoakOptions {
  const text = env[soakVariable];
  return text === undefined ? sample : JSON.parse(text);
}

/** The options from the command line. */
export function parseSoakOptions(given: {
  runs?: string;
  seed?: string;
  faults?: string;
  record?: string;
}): SoakOptions {
  const first = count("--seed", given.seed ?? "1", 0);
  const runs = count("--runs", given.runs ?? "20", 1);
  if (given.record !== undefined && given.faults !== undefined) {
    throw new Failure("--record is for complete cases: leave out --faults. See npm run soak -- --help.");
  }
  return {
    seeds: Array.from({ length: runs }, (_, index) => first + index),
    only: partsIn(given.faults),
    record: given.record === undefined ? undefined : resolve(given.record),
  };
}

function partsIn(text: string | undefined): readonly CasePart[] | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return [];
  return text.split(",").map((one) => (one === "kill" ? one : count("--faults", one, 0)));
}

function count(option: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || text.trim() === "" || value < least) {
    throw new Failure(`${option}: '${text}' is no whole number from ${least} on. See npm run soak -- --help.`);
  }
  return value;
}
