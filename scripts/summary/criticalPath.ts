// How long a run would take that loses no time: every stage begins when the gate before it opens, and every gate opens when all that it needs has been
// so for its window. What a run takes beyond that is ours.
import type { GateName } from "../../components/gates/registry.ts";
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
  service,
} from "./facts.ts";

/** From the first such fact to the first of the other kind after it. */
interface Span {
  readonly from: IsFact;
  readonly to: IsFact;
  /** Whom both happen to: each of them has a span of its own. */
  readonly each: (fact: Fact) => string;
  /** It begins once, for all of them. */
  readonly isShared?: true;
}

const machine = ({ subject }: Fact) => subject;
const follows = (from: IsFact, to: IsFact): Span => ({ from, to, each: told, isShared: true });
const told = ({ subject, detail }: Fact) => JSON.stringify([subject, detail]);
const comesUp = (name: RegExp): Span => ({ from: pod(name, "begun"), to: pod(name, "ready"), each: machine });

/** A part of the chain, which takes as long as the longest of its spans: all machines and pods are asked at once. */
interface Part {
  readonly spans: readonly Span[];
  /** The part that it begins together with; else it begins when the one before is done. */
  readonly with?: string;
  /** The gate behind it. */
  readonly gate?: GateName;
}

/** The chain, in its order. */
const parts: Readonly<Record<string, Part>> = {
  machines: {
    spans: [{ from: fact("server", "initializing"), to: fact("api", "maintenance"), each: machine }],
    gate: "Preflight",
  },
  "machine configs": {
    // As far as a node comes alone: a control plane waits for the bootstrap.
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
    // It fetches what it finds when it is up; where it is up already it finds another commit.
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
 * Seconds until the end of the chain at the least. `held` are the seconds for which the gates that were waited at had to hold; what becomes true while
 * another gate holds takes no time of its own. A part in which nothing was done takes none.
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
