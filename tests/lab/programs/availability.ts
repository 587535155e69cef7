// Runs in a lab: asks the Kubernetes API and the lab every 200 ms, and prints a line for each time.
import { readFileSync } from "node:fs";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import { systemClock } from "../../../components/waiting/clock.ts";

const [, , kubeconfig = "", service = ""] = process.argv;
const intervalMs = 200;
const deadlineMs = 1_000;
const client = new KubernetesClient(readFileSync(kubeconfig, "utf8"), systemClock);
const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D${service}`;

interface Slice {
  readonly endpoints?: readonly { readonly nodeName?: string; readonly conditions?: { readonly ready?: boolean } }[];
}

async function ask(): Promise<object> {
  const signal = AbortSignal.timeout(deadlineMs);
  const answer = client.json<{ readonly items: readonly Slice[] }>(path, { signal, deadlineMs });
  const items = await answer.then(
    (list) => list.items,
    () => undefined,
  );
  if (items === undefined) return { isAnswered: false };
  const ready = items.flatMap(({ endpoints = [] }) => endpoints).filter(({ conditions }) => conditions?.ready);
  const running = await runningMachines();
  return { isAnswered: true, serving: ready.filter(({ nodeName = "" }) => running.has(nodeName)).length };
}

/** An endpoint may be listed for a moment after its machine has gone. */
async function runningMachines(): Promise<ReadonlySet<string>> {
  const status = (await (await fetch("http://192.0.2.2/status")).json()) as {
    readonly lab: { readonly machines: readonly { readonly name: string; readonly stage?: string }[] };
  };
  return new Set(
    status.lab.machines.filter(({ stage }) => stage === "running").map(({ name }) => name.replace(/^test-/, "")),
  );
}

for (let due = Date.now(); ; due += intervalMs) {
  await new Promise((done) => setTimeout(done, Math.max(0, due - Date.now())));
  const atMs = Date.now();
  void ask().then((answer) => console.log(JSON.stringify({ atMs, ...answer })));
}
