// A lab and the cluster in it, for a program that runs inside.
import { systemClock } from "../../components/gates/clock.ts";
import { KubernetesClient } from "../../components/kubernetes/client.ts";
import type { KubernetesNode, Pod } from "../../components/kubernetes/objects.ts";
import type { Fact } from "../summary/facts.ts";
import { Failure } from "../workspace/fail.ts";

/** What the lab tells and takes, for whoever is in it. */
const lab = "http://192.0.2.2";
/** Milliseconds that anything may take. */
export const patience = 60_000;
/** The cluster, as far as it is needed to make trouble in it. */
export class Cluster {
  readonly kubeconfig: string;
  private readonly client: KubernetesClient;

  constructor(kubeconfig: string) {
    this.kubeconfig = kubeconfig;
    this.client = new KubernetesClient(kubeconfig, systemClock);
  }

  async nodes(): Promise<string[]> {
    const { items } = await this.get<KubernetesNode>("/api/v1/nodes");
    return items.map(({ metadata }) => metadata.name);
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.get<Pod>("/api/v1/namespaces/kube-system/pods")).items;
  }

  async remove(pod: string): Promise<void> {
    await this.client.text(`/api/v1/namespaces/kube-system/pods/${pod}`, { method: "DELETE", ...this.call() });
  }

  private get<T>(path: string): Promise<{ readonly items: readonly T[] }> {
    return this.client.json(path, this.call());
  }

  private call() {
    return { signal: AbortSignal.timeout(patience), patience };
  }
}

export async function ask(path: string, options: RequestInit = {}) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${lab}${path}`, { ...options, headers, signal: AbortSignal.timeout(patience) });
  const text = await response.text();
  if (!response.ok) throw new Failure(`the lab answers ${path} with ${response.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** All facts after that many. */
export async function timeline(after: number): Promise<Fact[]> {
  const response = await fetch(`${lab}/timeline?after=${after}`, { signal: AbortSignal.timeout(patience) });
  return factsIn(await response.text());
}

/** Waits for a fact after that many. */
export async function until(after: number, is: (fact: Fact) => boolean): Promise<void> {
  const response = await fetch(`${lab}/timeline?follow=true&after=${after}`, { signal: AbortSignal.timeout(patience) });
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString()).split("\n");
    rest = lines.pop() ?? "";
    if (factsIn(lines.join("\n")).some(is)) return;
  }
  throw new Failure("the lab has ended");
}

function factsIn(lines: string): Fact[] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
