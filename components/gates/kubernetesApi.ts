import type { KubernetesCredentials } from "../kubernetes/observe.ts";
import { text } from "../model/untyped.ts";
import type { Condition } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import type { ApiLook } from "./kubernetes/watchApi.ts";
import { lazily } from "./lazily.ts";

export interface KubernetesApiInputs {
  /** The kubeconfig of the cluster: its server and CA are what is probed. */
  readonly credentials: KubernetesCredentials;
  /** How many consecutive answers must be good. */
  readonly answers: number;
}

type Facts = Pick<ClusterFacts, "kubeconfig" | "server" | "ground">;

/** The API answers at the address in the kubeconfig, with this cluster's certificate, several times in a row. */
export const kubernetesApi: GateDefinition<KubernetesApiInputs, ApiLook, Facts> = {
  name: "KubernetesApi",
  timeoutCode: "SLU-K101",
  resource: "kubernetes-api",
  proves: "the Kubernetes API answers at the address that clients will use",
  opensWhen:
    "the API at the address in the kubeconfig has this cluster's certificate, is ready three times in a row, and lists what it serves within 10 s",
  timeout: { key: "api", seconds: 300 },
  canFlap: true,
  inputs: () => ({ answers: 3 }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ server, ground }) => [server, ...ground],
  conditions: ({ answers }) => [isOurs, isReady(answers), hasSchema],
  observe: ({ credentials: { kubeconfig } }, signal, clock) =>
    lazily(async () => (await import("./kubernetes/watchApi.ts")).watchApi(kubeconfig, signal, clock)),
  evidence: ({ server }) => ({ server }),
  words: ({ server }) => `ready at ${text(server)}`,
};

/** The same before the VIP is up, at the first control plane's own address: kube-vip is installed through it. */
export const firstKubernetesApi: typeof kubernetesApi = {
  ...kubernetesApi,
  resource: "first-kubernetes-api",
  part: "kubeVip",
};

const isOurs: Condition<ApiLook> = {
  phrase: "the Kubernetes API to have a certificate of this cluster",
  evaluate({ fault, server }) {
    if (fault === undefined || fault.kind === "other") return [];
    const remedy =
      fault.kind === "name"
        ? "Add the address to certSANs, or set endpoint to one that the certificate has."
        : "Find out who answers at this address: another cluster, or a proxy. The endpoint must lead to this cluster's control planes.";
    return [{ kind: "failed", where: server, reason: fault.reason, code: "SLU-K102", remedy }];
  },
};

function isReady(answers: number): Condition<ApiLook> {
  return {
    phrase: `the Kubernetes API to be ready ${answers} times in a row`,
    evaluate({ server, inARow, fault }) {
      if (inARow >= answers) return [];
      if (fault !== undefined) return [{ kind: "pending", where: server, reason: fault.reason }];
      return [{ kind: "pending", where: server, reason: `${inARow} good answers so far`, unseen: true }];
    },
  };
}

/** An API server that has just started builds its schema at the first request, which takes longer than the calls after this gate wait. */
const hasSchema: Condition<ApiLook> = {
  phrase: "the Kubernetes API to list what it serves",
  evaluate({ hasSchema, slowSchemaSeconds, server }) {
    if (hasSchema) return [];
    const slow = slowSchemaSeconds === undefined ? undefined : Math.round(slowSchemaSeconds);
    const reason = slow === undefined ? "it has not built its schema yet" : `its schema took ${slow} s`;
    return [{ kind: "pending", where: server, reason }];
  },
};
