// Asks the Kubernetes API and a Service again and again, as an application and its users do, and measures for how long neither answers.
import { join } from "node:path";
import type { Chain, Run } from "./chain.ts";
import type { Watch } from "./watch.ts";
import { shop } from "./workload.ts";

/** One question each: whether the API answered, and on how many machines that run a pod of the Service was ready. */
interface Tick {
  readonly atMs: number;
  readonly isAnswered: boolean;
  /** Undefined if the API did not say. */
  readonly serving?: number;
}

export interface Availability {
  readonly ticks: number;
  /** The longest time from an answer of the API to its next one, in seconds. */
  readonly longestApiGap: number;
  /** All the time in which the API did not answer. */
  readonly apiDown: number;
  /** The fewest ready pods of the Service at a time. */
  readonly fewestPods: number;
}

const script = join(import.meta.dirname, "..", "programs", "availability.ts");

/** An `up` during which the application of workload.ts and the API are asked. */
export async function measuredUp(chain: Chain): Promise<Run & { readonly measured: Availability }> {
  const client = await AvailabilityWatch.of(chain, shop);
  try {
    return { ...(await chain.up()), measured: await client.measured() };
  } finally {
    await client.end();
  }
}

/** Asks every 200 ms until it is stopped. */
class AvailabilityWatch {
  private readonly watch: Watch;

  private constructor(watch: Watch) {
    this.watch = watch;
  }

  static async of(chain: Chain, service: string): Promise<AvailabilityWatch> {
    const kubeconfig = await chain.lab.write("availability.kubeconfig", (await chain.outputs()).kubeconfig);
    const watch = chain.lab.watch(process.execPath, [script, kubeconfig, service]);
    await watch.says(/"serving"/);
    return new AvailabilityWatch(watch);
  }

  async end(): Promise<string> {
    return await this.watch.stop();
  }

  /** Ends it. Throws if it has ended by itself before. */
  async measured(): Promise<Availability> {
    const said = await this.end();
    const ticks = [...said.matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line) as Tick);
    const lastMs = Math.max(...ticks.map(({ atMs }) => atMs));
    if (Date.now() - lastMs > 3_000) throw new Error(`the client ended early: ${said.slice(-2_000)}`);
    const answers = ticks.flatMap(({ isAnswered, atMs }) => (isAnswered ? atMs : [])).toSorted((a, b) => a - b);
    const gaps = answers.slice(1).map((at, place) => (at - (answers[place] ?? at)) / 1000);
    const long = gaps.filter((gap) => gap > 1);
    return {
      ticks: ticks.length,
      longestApiGap: Math.max(0, ...gaps),
      apiDown: long.reduce((sum, gap) => sum + gap, 0),
      fewestPods: Math.min(...ticks.flatMap(({ serving }) => serving ?? [])),
    };
  }
}
