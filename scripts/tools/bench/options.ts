import { resolve } from "node:path";
import { Failure } from "../../base/fail.ts";

export interface BenchOptions {
  readonly rounds: number;
  readonly controlPlanes: number;
  readonly workers: number;
  /** The file to which the figures of each command are added, a line of JSON each. */
  readonly record?: string | undefined;
  /** The file that the chart is written to. */
  readonly chart?: string | undefined;
}

/** The variable in which the command passes its options to the measurement. */
export const benchVariable = "SLUICE_BENCH";

const usual: BenchOptions = { rounds: 3, controlPlanes: 3, workers: 3 };

export function readBenchOptions(env: NodeJS.ProcessEnv): BenchOptions {
  const text = env[benchVariable];
  return text === undefined ? usual : JSON.parse(text);
}

/** The options from the command line. */
export function parseBenchOptions(given: {
  rounds?: string;
  nodes?: string;
  quick?: boolean;
  record?: string;
  chart?: string;
}): BenchOptions {
  if (given.quick && given.rounds !== undefined) {
    throw new Failure("--quick is one round: leave out --rounds. See npm run bench -- --help.");
  }
  const rounds = given.quick ? 1 : count("--rounds", given.rounds ?? `${usual.rounds}`);
  const [, controlPlanes = "", workers = ""] = /^(\d+)\+(\d+)$/.exec(given.nodes ?? "3+3") ?? [];
  const [first, second] = [Number(controlPlanes), Number(workers)];
  if (controlPlanes === "" || ![1, 3, 5].includes(first) || second > 200) {
    throw new Failure(
      `--nodes: '${given.nodes}' is not <control planes>+<workers>, such as 3+3, with 1, 3 or 5 control planes and at most 200 workers. See npm run bench -- --help.`,
    );
  }
  const path = (file: string | undefined) => (file === undefined ? undefined : resolve(file));
  return { rounds, controlPlanes: first, workers: second, record: path(given.record), chart: path(given.chart) };
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new Failure(`${option}: '${text}' is no whole number from 1 on. See npm run bench -- --help.`);
  }
  return value;
}
