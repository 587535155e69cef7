// The manifests that Talos has for Kubernetes, such as CoreDNS. Talos creates them, and leaves those that exist as they are.

import { isDeepStrictEqual } from "node:util";
import { reasonOf } from "../../errors/reasonOf.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { KubernetesClient, KubernetesError } from "../../kubernetes/client.ts";
import type { KubernetesObject } from "../../kubernetes/objects.ts";
import { count } from "../../model/count.ts";
import { type NodeResourceContext, using } from "../../talos/access/nodeAccess.ts";
import { fieldOf } from "../../talos/client/specs.ts";
import type { ResourceType } from "../../talos/client/talosClient.ts";
import type { ClusterAccess } from "./clusterAccess.ts";
import type { UpgradeNode } from "./nodeKubernetes.ts";

const manifests: ResourceType = { namespace: "controlplane", type: "Manifests.kubernetes.talos.dev" };

/** Talos' own name in server-side apply, as of 1.13. Before, it had the name of the program that wrote: machined, or `talosctl upgrade-k8s`. */
const manager = "talos";
const formerManagers = new Set([manager, "machined", "talosctl", "Talos"]);

export interface Manifest extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

const inventory = "config.k8s.io/owning-inventory";

/** What was done with an object. */
export interface AppliedManifest {
  readonly title: string;
  readonly did: "changed" | "nothing" | "left";
  /** Why it was left as it is. */
  readonly why?: string;
}

/** The most places of one object that are named. */
const mostPaths = 3;
/** Milliseconds for a call. */
const callDeadlineMs = 10_000;

/**
 * Brings the objects to what Talos has for this version, by server-side apply without pruning. One that somebody else has changed in the same fields is left
 * as it is: Talos would overwrite, for example, a release that has replaced its manifest since.
 */
export async function applyManifests(cluster: ClusterAccess, context: NodeResourceContext): Promise<void> {
  context.report("applies the manifests of Talos");
  const [first] = cluster.controlPlanes;
  if (first === undefined) return;
  const applied: AppliedManifest[] = [];
  for (const object of await manifestsOn(first, cluster)) {
    cluster.checkGoAhead();
    applied.push(await cluster.kubernetes((_, kubeconfig) => applyManifest(kubeconfig, object, context), context));
  }
  const changed = applied.filter(({ did }) => did === "changed");
  if (changed.length > 0) {
    const names = changed.map(({ title }) => title).join(", ");
    await context.note(`${count(changed.length, "manifest")} of Talos changed: ${names}`, "info");
  }
  for (const { title, why } of applied.filter(({ did }) => did === "left")) {
    await context.note(`${title} is left as it is, and not as Talos has it: ${why}`, "warning");
  }
}

/** What an apply would change now, as text, without changing it. */
export async function manifestChanges(
  cluster: ClusterAccess,
  context: NodeResourceContext,
): Promise<readonly string[]> {
  const [first] = cluster.controlPlanes;
  if (first === undefined) return [];
  const found: string[] = [];
  for (const object of await manifestsOn(first, cluster)) {
    const change = await cluster.kubernetes((_, kubeconfig) => changeOf(kubeconfig, object, context), context);
    if (change !== undefined) found.push(change);
  }
  return found;
}

async function changeOf(
  kubeconfig: string,
  object: Manifest,
  { clock }: NodeResourceContext,
): Promise<string | undefined> {
  const client = new KubernetesClient(kubeconfig, clock);
  const path = await pathOf(client, object);
  if (path === undefined || object.kind === "Job") return undefined;
  const before = await call<KubernetesObject>(client, "GET", path);
  if (before === undefined) return `${titleOf(object)} is created`;
  try {
    const after = await apply(client, path, withInventory(object, before), { isForced: false, isTrial: true });
    const paths = changedPaths(meant(before), meant(after));
    if (paths.length === 0) return undefined;
    const more = paths.length > mostPaths ? ` and ${paths.length - mostPaths} more` : "";
    return `${titleOf(object)} changes: ${paths.slice(0, mostPaths).join(", ")}${more}`;
  } catch (error) {
    return `${titleOf(object)}: ${reasonOf(error)}`;
  }
}

/** Without what the server itself counts. */
function meant(object: unknown): unknown {
  const { metadata, status: _, ...rest } = (object ?? {}) as Manifest & { readonly status?: unknown };
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _generation,
    ...kept
  } = metadata as KubernetesObject["metadata"];
  return { ...rest, metadata: kept };
}

/** The places at which two values differ: "spec.template.spec.containers.0.image". */
export function changedPaths(before: unknown, after: unknown, at: readonly string[] = []): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
  if (!isObject(before) || !isObject(after)) return [at.join(".")];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => changedPaths(fieldOf(before, key), fieldOf(after, key), [...at, key]));
}

async function manifestsOn(node: UpgradeNode, cluster: ClusterAccess): Promise<readonly Manifest[]> {
  const objects = await using(cluster.open(node), (client) => client.list(manifests));
  return inOrder(objects.flatMap(({ spec }) => (Array.isArray(spec) ? (spec as readonly Manifest[]) : [])));
}

/** Namespaces first, then definitions of kinds, then the rest. */
export function inOrder(objects: readonly Manifest[]): readonly Manifest[] {
  const rank = ({ kind }: Manifest) => ["Namespace", "CustomResourceDefinition"].indexOf(kind);
  const place = (object: Manifest) => (rank(object) < 0 ? 2 : rank(object));
  return objects.toSorted((a, b) => place(a) - place(b));
}

async function applyManifest(
  kubeconfig: string,
  object: Manifest,
  context: NodeResourceContext,
): Promise<AppliedManifest> {
  const client = new KubernetesClient(kubeconfig, context.clock);
  const title = titleOf(object);
  const path = await pathOf(client, object);
  if (path === undefined)
    return { title, did: "left", why: `the cluster has no kind ${object.kind} of ${object.apiVersion}` };
  const before = await call<KubernetesObject>(client, "GET", path);
  // A Job is done once, and its template cannot change.
  if (before !== undefined && object.kind === "Job") return { title, did: "nothing" };
  try {
    const wanted = withInventory(object, before);
    const after = await apply(client, path, wanted).catch((error: unknown) => {
      if (!isOwnConflict(error)) throw error;
      return apply(client, path, wanted, { isForced: true });
    });
    const isSame = before !== undefined && before.metadata.resourceVersion === after?.metadata.resourceVersion;
    return { title, did: isSame ? "nothing" : "changed" };
  } catch (error) {
    const { status } = error as { readonly status?: number };
    if (status === 409 || status === 422) return { title, did: "left", why: reasonOf(error) };
    if (status === undefined || status >= 500 || status === 429) throw error;
    throw new SluiceError({ code: "SLU-K306", where: title, seen: reasonOf(error) });
  }
}

/** Talos' note of its own objects. Without it in what is applied, it would be removed. */
function withInventory(object: Manifest, before: KubernetesObject | undefined): Manifest {
  const noted = before?.metadata.annotations?.[inventory];
  if (noted === undefined) return object;
  const annotations = { ...object.metadata.annotations, [inventory]: noted };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function apply(
  client: KubernetesClient,
  path: string,
  object: Manifest,
  { isForced = false, isTrial = false }: { readonly isForced?: boolean; readonly isTrial?: boolean } = {},
) {
  const query = `fieldManager=${manager}&force=${isForced}${isTrial ? "&dryRun=All" : ""}`;
  return call<KubernetesObject>(client, "PATCH", `${path}?${query}`, object);
}

/** Whether only Talos itself, under a former name, has other values in these fields. */
export function isOwnConflict(error: unknown): boolean {
  if (!(error instanceof KubernetesError) || error.status !== 409) return false;
  const managers = [...error.message.matchAll(/conflicts? with "([^"]+)"/g)].map(([, name = ""]) => name);
  return managers.length > 0 && managers.every((name) => formerManagers.has(name));
}

async function call<T>(
  client: KubernetesClient,
  method: "GET" | "PATCH",
  path: string,
  body?: unknown,
): Promise<T | undefined> {
  const signal = new AbortController().signal;
  try {
    const patch = method === "PATCH" ? ({ patch: "apply" } as const) : {};
    return await client.json<T>(path, { method, body, ...patch, signal, deadlineMs: callDeadlineMs });
  } catch (error) {
    if (method === "GET" && error instanceof KubernetesError && error.status === 404) return undefined;
    throw error;
  }
}

interface ApiResources {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** Where the object is; undefined if the cluster has no such kind. */
async function pathOf(client: KubernetesClient, { apiVersion, kind, metadata }: Manifest): Promise<string | undefined> {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources = [] } = (await call<ApiResources>(client, "GET", root)) ?? {};
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  if (found === undefined) return undefined;
  const scope = found.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
  return `${root}${scope}/${found.name}/${metadata.name}`;
}

/** A Secret of Talos has a token's id as its name. */
function titleOf({ kind, metadata: { namespace, name } }: Manifest): string {
  if (kind === "Secret") return `a Secret in ${namespace}`;
  return [kind, [namespace, name].filter(Boolean).join("/")].join(" ");
}
