// The time that a run would take without any overhead: every stage starts when the gate before it opens, and every gate opens when its conditions have been
// met for its stability window.
import type { Fact } from "../state/timeline.ts";
import { any, deployment, deployments, fact, type IsFact, pod, pods, rootReconciled, service } from "./facts.ts";

/** From the first fact of this kind to the first fact of the other kind after it. */
interface Span {
  readonly from: IsFact;
  readonly to: IsFact;
  /** The subject of both facts: each subject has its own span. */
  readonly each: (fact: Fact) => string;
  /** It starts once, for all subjects. */
  readonly isShared?: true;
}

const machine = ({ subject }: Fact) => subject;
const follows = (from: IsFact, to: IsFact): Span => ({ from, to, each: told, isShared: true });
const told = ({ subject, detail }: Fact) => JSON.stringify([subject, detail]);
const comesUp = (name: RegExp): Span => ({ from: pod(name, "begun"), to: pod(name, "ready"), each: machine });

/** A part of the chain. It takes as long as its longest span, because all machines and pods work at the same time. */
interface Part {
  readonly spans: readonly Span[];
  /** The part that it starts together with; by default it starts when the one before has ended. */
  readonly with?: string;
  /** The gate after it. */
  readonly gate?: string;
}

/** The chain, in its order. */
const parts: Readonly<Record<string, Part>> = {
  machines: {
    spans: [{ from: fact("server", "initializing"), to: fact("api", "maintenance"), each: machine }],
    gate: "Preflight",
  },
  "machine configs": {
    // As far as a node boots alone: a control plane waits for the bootstrap.
    spans: [
      {
        from: fact("config", "applied"),
        to: any(service("etcd", "Preparing"), fact("stage", "running")),
        each: machine,
      },
    ],
    gate: "Stages",
  },
  etcd: { spans: [follows(fact("bootstrap", "asked"), fact("etcd", "voter"))], gate: "Etcd" },
  "Talos services": {
    spans: [follows(fact("bootstrap", "asked"), service("etcd", "healthy"))],
    with: "etcd",
    gate: "TalosServices",
  },
  "Kubernetes API": {
    spans: [follows(fact("bootstrap", "asked"), pod(pods.apiServer, "ready"))],
    with: "etcd",
    gate: "KubernetesApi",
  },
  nodes: {
    spans: [follows(fact("bootstrap", "asked"), fact("kubelet", "registered"))],
    with: "etcd",
    gate: "NodesJoined",
  },
  Cilium: {
    spans: [comesUp(pods.cilium), follows(pod(pods.ciliumOperator, "begun"), deployment(deployments.ciliumOperator))],
    gate: "CiliumReady",
  },
  "the datapath": { spans: [comesUp(pods.datapathProbe)] },
  "cloud controller": { spans: [follows(pod(pods.cloudController, "begun"), fact("cloud", "initialized"))] },
  "nodes Ready": {
    spans: [{ from: pod(pods.cilium, "begun"), to: fact("taints", "gone"), each: machine }],
    with: "Cilium",
    gate: "NodesReady",
  },
  CSI: {
    spans: [
      comesUp(pods.csi),
      follows(pod(pods.csiController, "begun"), deployment(deployments.csiController)),
      { from: pod(pods.csi, "begun"), to: fact("csi", "registered"), each: machine },
    ],
    gate: "CsiReady",
  },
  "a volume": { spans: [follows(fact("call", "POST /v1/volumes"), fact("volume", "deleted"))] },
  "sealed-secrets": {
    spans: [follows(pod(pods.sealedSecrets, "begun"), deployment(deployments.sealedSecrets))],
    gate: "SealedSecretsReady",
  },
  Flux: { spans: [follows(pod(pods.flux, "begun"), deployment(deployments.flux))] },
  GitOps: {
    // The source controller fetches when it starts; if it already runs, it finds another commit.
    spans: [
      follows(
        any(deployment(deployments.sourceController), fact("gitrepository", "seen"), fact("gitrepository", "ready")),
        rootReconciled,
      ),
    ],
    gate: "GitOpsReady",
  },
};

/**
 * The minimum number of seconds until the end of the chain. `held` contains the stability windows of the gates that ran, in seconds; what becomes true during
 * another gate's window takes no additional time. A part in which nothing was done takes none.
 */
export function criticalPath(facts: readonly Fact[], held: Readonly<Record<string, number>>): number {
  const begins: Record<string, number> = {};
  let end = 0;
  for (const [name, { spans, with: other, gate }] of Object.entries(parts)) {
    const begin = begins[other ?? ""] ?? end;
    begins[name] = begin;
    end = Math.max(end, begin + longest(spans, facts)) + (held[gate ?? ""] ?? 0);
  }
  return end;
}

function longest(spans: readonly Span[], facts: readonly Fact[]): number {
  return Math.max(0, ...spans.flatMap((span) => durations(span, facts)));
}

function durations({ from, to, each, isShared }: Span, facts: readonly Fact[]): number[] {
  const begun = new Map<string, number>();
  const took = new Map<string, number>();
  for (const one of facts) {
    const whose = each(one);
    const start = isShared ? "" : whose;
    if (from(one) && !begun.has(start)) begun.set(start, one.at);
    const since = begun.get(start);
    if (to(one) && since !== undefined && !took.has(whose)) took.set(whose, one.at - since);
  }
  return [...took.values()];
}
