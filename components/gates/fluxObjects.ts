// Flux' objects, as far as they are looked at, and what they say of themselves.
import type { KubernetesObject, StatusCondition } from "../kubernetes/objects.ts";

/** What Flux' controllers keep in line with what git says, each by a controller of its own. */
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

export type FluxLook = { readonly [Kind in keyof FluxKinds]: readonly FluxKinds[Kind][] } & {
  /** Seconds since the first look. */
  readonly watched: number;
};

/** The GitRepository and the Kustomization that a cluster begins with. */
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

export function sourceOf({ sources }: Pick<FluxLook, "sources">, { namespace, source }: FluxRoot) {
  return sources.find(({ metadata }) => metadata.name === source && metadata.namespace === namespace);
}

export function rootOf({ kustomizations }: Pick<FluxLook, "kustomizations">, { namespace, root }: FluxRoot) {
  return kustomizations.find(({ metadata }) => metadata.name === root && metadata.namespace === namespace);
}

/** The Kustomization that has applied an object, as kustomize-controller marks it: `<namespace>/<name>`. */
export function ownerOf({ metadata: { labels = {} } }: KubernetesObject): string | undefined {
  const group = "kustomize.toolkit.fluxcd.io";
  const name = labels[`${group}/name`];
  return name === undefined ? undefined : `${labels[`${group}/namespace`]}/${name}`;
}

/** Its condition Ready, if it is about the object as it is now. */
export function readyOf(object: FluxObject | undefined): StatusCondition | undefined {
  const ready = object?.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.observedGeneration === object?.metadata.generation ? ready : undefined;
}

export function said(ready: StatusCondition | undefined, object: FluxObject | undefined): string {
  if (object === undefined) return "is not there";
  if (ready === undefined) return "has not been looked at by its controller yet";
  // Folders of the controller's own, another one at each try, say nothing of the repository.
  const message = ready.message?.trim().replace(/\/\S*\/kustomization-\d+\//g, "");
  return `${ready.reason}: ${message}`;
}
