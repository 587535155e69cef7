// How long after the fact a gate opened, beyond the time for which it had to hold.
import type { GateName } from "../../components/gates/registry.ts";
import type { TracedWait, TraceLine } from "../../components/trace/trace.ts";
import {
  any,
  deployment,
  deployments,
  type Fact,
  fact,
  type IsFact,
  pod,
  pods,
  rootReconciled,
  type Timeline,
} from "./facts.ts";

/** What tells facts that a gate needs from others like them. */
export interface About {
  isControlPlane(subject: string): boolean;
  /** Whether the API is handed out at the address of this machine. Where it is no machine's it is a load balancer's. */
  isEndpoint(subject: string): boolean;
}

/** The facts that each gate needs, for its own wait and for its trial: the last of them is the one that it opens on. */
const needed: Readonly<Record<GateName, (about: About) => readonly IsFact[]>> = {
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
  CiliumReady: () => [any(pod(pods.cilium, "ready"), deployment(deployments.ciliumOperator))],
  NodesReady: () => [any(fact("node", "ready"), fact("taints", "gone"), fact("cloud", "initialized"))],
  CsiReady: () => [
    any(pod(pods.csi, "ready"), deployment(deployments.csiController), fact("csi", "registered")),
    any(pod(pods.probe, "deleted"), fact("volume", "deleted")),
  ],
  SealedSecretsReady: () => [deployment(deployments.sealedSecrets)],
  GitOpsReady: () => [any(deployment(deployments.flux), rootReconciled)],
};

/** Seconds that a fact may be on the timeline later than it could be seen. */
const recording = 0.1;

/**
 * Seconds by which a gate opened after the last fact that it needed, or after it was asked where that is later. What has to hold for a while, or
 * to be shown several times in a row, is no delay: neither the stable window nor `proof`, in seconds. Undefined where it did not open.
 */
export function gateDelay(
  { type, ended, outcome, waits = [] }: TraceLine,
  { started, facts }: Timeline,
  about: About,
  proof: number,
): number | undefined {
  const gate = type.replace(/^gates:/, "");
  const kinds = (needed as Readonly<Record<string, (about: About) => readonly IsFact[]>>)[gate]?.(about);
  if (outcome !== "done" || kinds === undefined || waits.length === 0) return undefined;
  const delays = waits.map((wait, place) => {
    const moment = lastFact(facts, kinds[place], (wait.held - started) / 1000 + recording);
    const since = Math.max(wait.began, started + (moment ?? 0) * 1000);
    // Until what depends on it can begin.
    const until = place === waits.length - 1 ? ended : wait.opened;
    return Math.max(0, (until - since) / 1000 - wait.stable);
  });
  return Math.max(0, sum(delays) - proof);
}

/** Seconds for which a gate's conditions had to hold. */
export function windowsOf(waits: readonly TracedWait[] = []): number {
  return sum(waits.map(({ stable }) => stable));
}

function lastFact(facts: readonly Fact[], is: IsFact | undefined, before: number): number | undefined {
  return facts.findLast((one) => one.at <= before && is?.(one))?.at;
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}
