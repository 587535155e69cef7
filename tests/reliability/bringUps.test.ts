// How often a cluster comes up where things go wrong on the way, whether it is ever said to be up when it is not, and how long it takes to
// mend it (S1.8). Not in the whole check, for it takes an hour: `npm test -- reliability`. SLUICE_BRINGUPS is how many, SLUICE_SEED the first.
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { stringify } from "yaml";
import { Chain, type Run } from "../lab/support/chain.ts";
import { mishaps } from "./mishaps.ts";

jest.setTimeout(1_200_000);

const count = Number(process.env.SLUICE_BRINGUPS ?? 100);
const first = Number(process.env.SLUICE_SEED ?? 1);
const seeds = Array.from({ length: count }, (_, index) => first + index);
const nodes = ["test-cp-1", "test-cp-2", "test-cp-3", "test-w-1"] as const;

interface Result {
  readonly seed: number;
  readonly strikes: readonly string[];
  /** How many times `up` was run until it ended well. */
  readonly ups: number;
  /** Of the first. */
  readonly seconds: number;
  /** From the end of the first to the end of the last. */
  readonly recovery: number;
  readonly codes: readonly string[];
  readonly isSilent: boolean;
}

const results: Result[] = [];

/** Whether all is as an `up` that ended well says, in the eyes of others' tools. */
async function isWhole(chain: Chain): Promise<boolean> {
  const ready = "--all --for=condition=Ready --timeout=0";
  const asked = [
    () => chain.kubectl(..."wait nodes".split(" "), ...ready.split(" ")),
    () => chain.kubectl(..."--namespace flux-system wait kustomization".split(" "), ...ready.split(" ")),
    () => chain.talosctl(..."health --nodes 10.0.1.11 --wait-timeout 20s".split(" ")),
  ];
  for (const ask of asked) {
    const answer = await ask().catch((error: Error) => error);
    if (answer instanceof Error) {
      process.stdout.write(`not as it was said: ${answer.message}\n`);
      return false;
    }
  }
  const names = await chain.kubectl("get", "nodes", "--output", "jsonpath={.items[*].metadata.name}");
  return names === "cp-1 cp-2 cp-3 w-1";
}

/** One cluster, from nothing: `up` until it ends well, as a person would, but not for ever. */
async function bringUp(seed: number): Promise<Result & { readonly last: string }> {
  const strikes = mishaps(seed, nodes);
  const chain = await Chain.of({ controlPlanes: 3, workers: 1, seed, scenario: stringify(strikes) });
  try {
    const runs: Run[] = [];
    do {
      if (runs.length > 0) await chain.taintHalfMade();
      runs.push(await chain.run("up"));
    } while (runs.at(-1)?.code !== 0 && runs.length < 4);
    // What has not struck by now would strike those who look.
    for (const place of strikes.keys()) await chain.lab.call("fault", "remove", `fault-${place + 1}`);
    const failed = runs.filter(({ code }) => code !== 0);
    const isUp = failed.length < runs.length;
    const [{ seconds } = { seconds: 0 }, ...others] = runs;
    return {
      seed,
      strikes: strikes.map(({ on, name = "", subject = "", do: how }) => [on, name, subject, how].join(" ")),
      ups: isUp ? runs.length : 0,
      seconds,
      recovery: others.reduce((sum, run) => sum + run.seconds, 0),
      codes: failed.map(({ stdout }) => /SLU-\w\d+|error: .*/.exec(stdout)?.[0] ?? "no word"),
      isSilent: isUp && !(await isWhole(chain)),
      last: isUp ? "" : (failed.at(-1)?.stdout.slice(-3_000) ?? ""),
    };
  } finally {
    await chain.down();
  }
}

describe(`${count} clusters of three control planes and a worker, three mishaps each`, () => {
  test.concurrent.each(seeds)("seed %i", async (seed) => {
    const { last, ...result } = await bringUp(seed);
    results.push(result);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    expect({ last, isSilent: result.isSilent }).toEqual({ last: "", isSilent: false });
  });

  afterAll(() => {
    const share = (of: number) => `${of} of ${results.length}, ${((100 * of) / results.length).toFixed(1)} %`;
    const recoveries = results
      .filter(({ ups }) => ups > 1)
      .map(({ recovery }) => recovery)
      .sort((a, b) => a - b);
    const times = results.map(({ seconds }) => seconds).sort((a, b) => a - b);
    const middle = (of: readonly number[]) => (of[Math.floor(of.length / 2)] ?? 0).toFixed(0);
    process.stdout.write(
      [
        `up at once: ${share(results.filter(({ ups }) => ups === 1).length)}`,
        `up after another run or more: ${share(recoveries.length)}; median ${middle(recoveries)} s, at most ${(recoveries.at(-1) ?? 0).toFixed(0)} s`,
        `not up: ${share(results.filter(({ ups }) => ups === 0).length)}`,
        `said to be up and not: ${share(results.filter(({ isSilent }) => isSilent).length)}`,
        `one up: median ${middle(times)} s, at most ${(times.at(-1) ?? 0).toFixed(0)} s`,
        "",
      ].join("\n"),
    );
  });
});
