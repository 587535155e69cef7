// Gate delays: how much later a gate opened than the last fact that it needs, beyond its stability window.

import type { TracedWait, TraceLine } from "../../../components/engine/trace.ts";
import type { Fact, Timeline } from "../state/timeline.ts";
import { any, deployment, deployments, fact, type IsFact, pod, pods, rootReconciled } from "./facts.ts";

/** Distinguishes the facts that a gate needs from similar ones. */
export interface About {
  isControlPlane(subject: string): boolean;
  /** Whether the endpoint has the address of this machine. If no machine has it, it is a load balancer's. */
  isEndpoint(subject: string): boolean;
}

/** The facts that each gate needs, for its own wait and for its trial: it opens after the last of them. */
const needed: Readonly<Record<string, (about: About) => readonly IsFact[]>> = {
  Preflight: () => [fact("api", "maintenance")],
  Stages: ({ isControlPlane }) => [
    any(fact("api", "apid"), ({ what, value, subject }) => {
      return what === "stage" && value === (isControlPlane(subject) ? "booting" : "running");
    }),
  ],
  Etcd: () => [fact("etcd", "voter")],
  TalosServices: () => [fact("service", "healthy")],
  VirtualAddress: () => [any(({ what }) => what === "address", pod(pods.apiServer, "ready"))],
  KubernetesApi: ({ isEndpoint }) => [
    any(
      (one) => pod(pods.apiServer, "ready")(one) && isEndpoint(one.subject),
      (one) => fact("target", "healthy")(one) && isEndpoint(one.subject),
    ),
  ],
  NodesJoined: () => [fact("kubelet", "registered")],
  CiliumReady: () => [
    any(pod(pods.cilium, "ready"), deployment(deployments.ciliumOperator)),
    pod(pods.datapathProbe, "ready"),
  ],
  NodesReady: () => [any(fact("node", "ready"), fact("taints", "gone"), fact("cloud", "initialized"))],
  CsiReady: () => [
    any(pod(pods.csi, "ready"), deployment(deployments.csiController), fact("csi", "registered")),
    any(pod(pods.probe, "deleted"), fact("volume", "deleted")),
  ],
  SealedSecretsReady: () => [deployment(deployments.sealedSecrets)],
  GitOpsReady: () => [any(deployment(deployments.flux), rootReconciled)],
};

/** Seconds by which a fact may appear on the timeline later than it could be observed. */
const recording = 0.1;

/**
 * Seconds by which a gate opened after the last fact that it needed, or after its start if that is later. Its stability window is no delay, and neither is
 * `proof`, the time for several answers in a row. Undefined if it did not open.
 */
export function gateDelay(
  { type, ended, outcome, waits = [] }: TraceLine,
  { started, facts }: Timeline,
  about: About,
  proof: number,
): number | undefined {
  const gate = type.replace(/^gates:/, "");
  const kinds = needed[gate]?.(about);
  if (outcome !== "done" || kinds === undefined || waits.length === 0) return undefined;
  const delays = waits.map((wait, place) => {
    const moment = lastFact(facts, kinds[place], (wait.held - started) / 1000 + recording);
    const since = Math.max(wait.began, started + (moment ?? 0) * 1000);
    // Until whatever depends on it can start.
    const until = place === waits.length - 1 ? ended : wait.opened;
    return Math.max(0, (until - since) / 1000 - wait.stableSeconds);
  });
  return Math.max(0, sum(delays) - proof);
}

/** The stability windows of a gate, in seconds. */
export function windowsOf(waits: readonly TracedWait[] = []): number {
  return sum(waits.map(({ stableSeconds }) => stableSeconds));
}

/** The facts that became true while a gate waited for them. */
export function neededFacts({ type, waits = [] }: TraceLine, { started, facts }: Timeline, about: About): Fact[] {
  const kinds = needed[type.replace(/^gates:/, "")]?.(about) ?? [];
  const isDuring = ({ began, held }: TracedWait, { at }: Fact) =>
    started + at * 1000 >= began && started + at * 1000 <= held + recording * 1000;
  return waits.flatMap((wait, place) => facts.filter((one) => isDuring(wait, one) && kinds[place]?.(one)));
}

function lastFact(facts: readonly Fact[], is: IsFact | undefined, before: number): number | undefined {
  return facts.findLast((one) => one.at <= before && is?.(one))?.at;
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}
