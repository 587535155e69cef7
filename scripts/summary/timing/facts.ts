// Facts of the lab's timeline that stages and gates wait for.
import type { Fact } from "../state/timeline.ts";

export type IsFact = (fact: Fact) => boolean;

export function fact(what: string, value: string): IsFact {
  return (one) => one.what === what && one.value === value;
}

/** Facts about pods whose names, with their namespaces, match. Facts do not contain the random end of a name. */
export function pod(name: RegExp, value: "begun" | "ready" | "deleted"): IsFact {
  return (one) => one.what === "pod" && one.value === value && name.test(one.detail?.pod ?? "");
}

export function service(id: string, value: string): IsFact {
  return (one) => one.what === "service" && one.value === value && one.detail?.id === id;
}

/** A Deployment that is available, which its controller notices some time after its pods are ready. */
export function deployment(name: RegExp): IsFact {
  return (one) => fact("deployment", "available")(one) && name.test(one.detail?.deployment ?? "");
}

export function any(...facts: readonly IsFact[]): IsFact {
  return (one) => facts.some((is) => is(one));
}

/** Pods that stages and gates wait for. */
export const pods = {
  apiServer: /^kube-system\/kube-apiserver$/,
  cilium: /^kube-system\/cilium-$/,
  ciliumOperator: /^kube-system\/cilium-operator-/,
  datapathProbe: /^kube-system\/sluice-datapath-probe-$/,
  cloudController: /^kube-system\/hcloud-cloud-controller-manager-/,
  csi: /^kube-system\/hcloud-csi-node-$/,
  csiController: /^kube-system\/hcloud-csi-controller-/,
  probe: /^kube-system\/sluice-volume-probe$/,
  sealedSecrets: /^kube-system\/sealed-secrets-controller-/,
  flux: /^flux-system\/\w+-controller-/,
} as const;

/** Deployments that gates wait for. */
export const deployments = {
  ciliumOperator: /^kube-system\/cilium-operator$/,
  csiController: /^kube-system\/hcloud-csi-controller$/,
  sealedSecrets: /^kube-system\/sealed-secrets-controller$/,
  flux: /^flux-system\/\w+-controller$/,
  sourceController: /^flux-system\/source-controller$/,
} as const;

/** The root Kustomization is the last thing that a bootstrap waits for. */
export const rootReconciled: IsFact = (one) =>
  one.what === "kustomization" && one.value === "ready" && one.detail?.name === "flux-system/flux-system";
