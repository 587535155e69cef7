// Measures gate delays many times. In a healthy cluster on the lab it holds the pods that a gate waits for, releases them at a random moment, and compares
// the lab's timeline with the moment when the gate opened.
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { waitUntil } from "../../components/gates/gateWait.ts";
import { findGate } from "../../components/gates/registry.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { readOptions } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { table } from "../base/table.ts";
import type { Fact } from "../summary/state/timeline.ts";
import { gateDelay } from "../summary/timing/delays.ts";
import { ask, Cluster, deadlineMs, timeline, until } from "./gateDelays/insideLab.ts";

const usage = `npm run lab -- exec node scripts/tools/gateDelays.ts [rounds]

Measures gate delays in a healthy cluster on a lab: in each round it holds a pod that gates wait for, and releases it again. 20 rounds by default.`;

/** The longest time that a pod is held while gates wait, so that it is released at a random moment of their work. */
const longestHoldMs = 3_000;

/** A pod to hold, and the gates that wait for it. */
interface Trial {
  readonly pod: RegExp;
  readonly gates: (nodes: readonly string[]) => Readonly<Record<string, object>>;
}

const trials: readonly Trial[] = [
  {
    pod: /^cilium-[a-z0-9]{5}$/,
    gates: (nodes) => ({
      CiliumReady: { nodes },
      NodesReady: { nodes, controller: "hcloud-cloud-controller-manager", labels: [] },
    }),
  },
  {
    pod: /^sealed-secrets-controller-/,
    gates: () => ({ SealedSecretsReady: { namespace: "kube-system", controller: "sealed-secrets-controller" } }),
  },
];

await main(async () => {
  const call = readOptions(usage, {}, { allowPositionals: true });
  if (call === undefined) return 0;
  const { positionals } = call;
  const [asked = "20", ...more] = positionals;
  const rounds = Number(asked);
  if (!Number.isInteger(rounds) || rounds < 1 || more.length > 0) throw new Failure(usage);
  const file = process.env.KUBECONFIG;
  if (file === undefined)
    throw new Failure("there is no cluster in this lab: 'npm run up -- <environment>' creates one");
  const cluster = new Cluster(readFileSync(file, "utf8"));
  const started = Date.parse((await ask("/status")).started);
  const delays = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const trial of trials) {
      for (const [gate, delay] of await measure(cluster, trial, started)) {
        delays.set(gate, [...(delays.get(gate) ?? []), delay]);
      }
    }
  }
  const columns = ["Gate", "Rounds", "Median", "p99", "Longest"].map((title) => ({ title }));
  const rows = [...delays].map(([gate, all]) => [
    gate,
    `${all.length}`,
    ...[0.5, 0.99, 1].map((part) => `${quantile(all, part).toFixed(3)} s`),
  ]);
  console.log(table(columns, rows).join("\n"));
  console.log(`\n  Load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`);
  return 0;
});

/** One round: the delay of each gate, in seconds. */
async function measure(cluster: Cluster, trial: Trial, started: number): Promise<[string, number][]> {
  const [nodes, pods] = await Promise.all([cluster.nodes(), cluster.pods()]);
  const pod = pods.find(({ metadata }) => trial.pod.test(metadata.name));
  if (pod === undefined)
    throw new Failure(`there is no pod ${trial.pod.source} in kube-system: the cluster is unhealthy`);
  const seen = (await timeline(0)).length;
  const rule = { on: "pod", name: `kube-system/${pod.metadata.name.replace(/[^-]*$/, "")}*`, do: "hold", times: 1 };
  const { ids } = await ask("/faults", { method: "POST", body: JSON.stringify(rule) });
  await cluster.remove(pod.metadata.name);
  const isHeld = ({ what, value, detail }: Fact) => what === "fault" && value === "hold" && detail?.rule === ids[0];
  await until(seen, isHeld);

  const waits = Object.entries(trial.gates(nodes)).map(async ([name, inputs]) => {
    const gate = findGate(name);
    if (gate === undefined) throw new Error(`there is no gate ${name}`);
    const settings = { deadlineSeconds: deadlineMs / 1000, stableSeconds: 0 };
    const given = { ...inputs, credentials: { kubeconfig: cluster.kubeconfig } };
    const began = Date.now();
    const end = await waitUntil(gate, given, settings, { clock: systemClock });
    if (end.kind !== "opened") throw new Failure(`${name} did not open: ${JSON.stringify(end.unmet)}`);
    const opened = Date.now();
    const wait = { began, held: opened, opened, stableSeconds: 0 };
    return { type: `gates:${name}`, name, began, ended: opened, outcome: "done" as const, waits: [wait] };
  });
  await new Promise((done) => setTimeout(done, 500 + Math.random() * longestHoldMs));
  const released = Date.now();
  await ask(`/faults/${ids[0]}`, { method: "DELETE" });
  const lines = await Promise.all(waits);
  const early = lines.find(({ ended }) => ended < released);
  if (early !== undefined) throw new Failure(`${early.name} opened while ${pod.metadata.name} was held`);
  // Facts are recorded a moment after they can be observed.
  await new Promise((done) => setTimeout(done, 500));
  const facts = await timeline(0);
  const about = { isControlPlane: () => false, isEndpoint: () => true };
  return lines.map((line) => [line.name, gateDelay(line, { started, facts }, about, 0) ?? Number.NaN]);
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
