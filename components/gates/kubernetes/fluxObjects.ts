// Flux' objects, with the fields that the gates read.
import type { KubernetesObject, StatusCondition } from "../../kubernetes/objects.ts";

/** The kinds that Flux reconciles, each with its own controller. */
export interface FluxObject extends KubernetesObject {
  readonly spec: { readonly suspend?: boolean };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly StatusCondition[] };
}

export interface GitRepository extends FluxObject {
  readonly spec: FluxObject["spec"] & {
    readonly interval: string;
    readonly url: string;
    readonly ref?: Readonly<Record<string, string>>;
  };
  readonly status?: FluxObject["status"] & { readonly artifact?: { readonly revision: string } };
}

export interface Kustomization extends FluxObject {
  readonly spec: FluxObject["spec"] & { readonly wait?: boolean; readonly path?: string };
  readonly status?: FluxObject["status"] & {
    readonly lastAppliedRevision?: string;
    readonly lastAttemptedRevision?: string;
  };
}

/** The lists that are watched, of all namespaces. */
export type FluxKinds = {
  sources: GitRepository;
  kustomizations: Kustomization;
  helmReleases: FluxObject;
  helmRepositories: FluxObject;
  ociRepositories: FluxObject;
  buckets: FluxObject;
};

export type FluxObservation = { readonly [Kind in keyof FluxKinds]: readonly FluxKinds[Kind][] } & {
  /** Seconds since the first observation. */
  readonly watched: number;
};

/** The GitRepository and the root Kustomization. */
export interface FluxRoot {
  readonly namespace: string;
  readonly source: string;
  readonly root: string;
}

export const fluxPaths: { readonly [Kind in keyof FluxKinds]: string } = {
  sources: "/apis/source.toolkit.fluxcd.io/v1/gitrepositories",
  kustomizations: "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
  helmReleases: "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
  helmRepositories: "/apis/source.toolkit.fluxcd.io/v1/helmrepositories",
  ociRepositories: "/apis/source.toolkit.fluxcd.io/v1/ocirepositories",
  buckets: "/apis/source.toolkit.fluxcd.io/v1/buckets",
};

export function sourceOf({ sources }: Pick<FluxObservation, "sources">, { namespace, source }: FluxRoot) {
  return sources.find(({ metadata }) => metadata.name === source && metadata.namespace === namespace);
}

export function rootOf({ kustomizations }: Pick<FluxObservation, "kustomizations">, { namespace, root }: FluxRoot) {
  return kustomizations.find(({ metadata }) => metadata.name === root && metadata.namespace === namespace);
}

/** The Kustomization that applied an object, from kustomize-controller's labels: `<namespace>/<name>`. */
export function ownerOf({ metadata: { labels = {} } }: KubernetesObject): string | undefined {
  const group = "kustomize.toolkit.fluxcd.io";
  const name = labels[`${group}/name`];
  return name === undefined ? undefined : `${labels[`${group}/namespace`]}/${name}`;
}

/** Its condition Ready, if that is about the current generation of the object. */
export function readyOf(object: FluxObject | undefined): StatusCondition | undefined {
  const ready = object?.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.observedGeneration === object?.metadata.generation ? ready : undefined;
}

export function said(ready: StatusCondition | undefined, object: FluxObject | undefined): string {
  if (object === undefined) return "does not exist";
  if (ready === undefined) return "has not been reconciled by its controller yet";
  // The names of the controller's temporary folders, which differ at each attempt, are left out.
  const message = ready.message?.trim().replace(/\/\S*\/kustomization-\d+\//g, "");
  return `${ready.reason}: ${message}`;
}
