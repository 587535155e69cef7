// Access to the lab and its cluster, for a program that runs inside.

import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import type { KubernetesNode, Pod } from "../../../components/kubernetes/objects.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { Failure } from "../../base/fail.ts";
import type { Fact } from "../../summary/state/timeline.ts";

/** The lab's control API, for programs inside. */
const lab = "http://192.0.2.2";
/** The deadline of every call. */
export const deadlineMs = 60_000;
/** The cluster's API, as far as it is needed to inject faults. */
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
    return { signal: AbortSignal.timeout(deadlineMs), deadlineMs };
  }
}

export async function ask(path: string, options: RequestInit = {}) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${lab}${path}`, { ...options, headers, signal: AbortSignal.timeout(deadlineMs) });
  const text = await response.text();
  if (!response.ok) throw new Failure(`the lab answered ${path} with ${response.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** All facts after the given number of facts. */
export async function timeline(after: number): Promise<Fact[]> {
  const response = await fetch(`${lab}/timeline?after=${after}`, { signal: AbortSignal.timeout(deadlineMs) });
  return factsIn(await response.text());
}

/** Waits for a fact after the given number of facts. */
export async function until(after: number, is: (fact: Fact) => boolean): Promise<void> {
  const response = await fetch(`${lab}/timeline?follow=true&after=${after}`, {
    signal: AbortSignal.timeout(deadlineMs),
  });
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
