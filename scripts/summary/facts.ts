// The lab's timeline: what was true in it, and when.

export interface Fact {
  /** Seconds since the lab began. */
  readonly at: number;
  readonly subject: string;
  readonly what: string;
  readonly value: string;
  readonly detail?: Readonly<Record<string, string>>;
}

export interface Timeline {
  /** When the lab began, in milliseconds since 1970. */
  readonly started: number;
  readonly facts: readonly Fact[];
}

export type IsFact = (fact: Fact) => boolean;

export function fact(what: string, value: string): IsFact {
  return (one) => one.what === what && one.value === value;
}

/** What became of pods whose names, with their namespaces, begin so. The random end of a name is not in a fact. */
export function pod(name: RegExp, value: "begun" | "ready" | "deleted"): IsFact {
  return (one) => one.what === "pod" && one.value === value && name.test(one.detail?.pod ?? "");
}

export function service(id: string, value: string): IsFact {
  return (one) => one.what === "service" && one.value === value && one.detail?.id === id;
}

/** A Deployment that is available in whole, which its controllers find out a while after its pods are ready. */
export function deployment(name: RegExp): IsFact {
  return (one) => fact("deployment", "available")(one) && name.test(one.detail?.deployment ?? "");
}

export function any(...facts: readonly IsFact[]): IsFact {
  return (one) => facts.some((is) => is(one));
}

/** Pods that stages and gates ask about. */
export const pods = {
  apiServer: /^kube-system\/kube-apiserver$/,
  cilium: /^kube-system\/cilium-$/,
  ciliumOperator: /^kube-system\/cilium-operator-/,
  cloudController: /^kube-system\/hcloud-cloud-controller-manager-/,
  csi: /^kube-system\/hcloud-csi-node-$/,
  csiController: /^kube-system\/hcloud-csi-controller-/,
  probe: /^kube-system\/sluice-volume-probe$/,
  sealedSecrets: /^kube-system\/sealed-secrets-controller-/,
  flux: /^flux-system\/\w+-controller-/,
} as const;

/** Deployments that gates ask about. */
export const deployments = {
  ciliumOperator: /^kube-system\/cilium-operator$/,
  csiController: /^kube-system\/hcloud-csi-controller$/,
  sealedSecrets: /^kube-system\/sealed-secrets-controller$/,
  flux: /^flux-system\/\w+-controller$/,
  sourceController: /^flux-system\/source-controller$/,
} as const;

/** The root Kustomization is what a bootstrap ends with. */
export const rootReconciled: IsFact = (one) =>
  one.what === "kustomization" && one.value === "ready" && one.detail?.name === "flux-system/flux-system";
