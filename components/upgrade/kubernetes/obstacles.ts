// What the new version of Kubernetes no longer has and the cluster still uses, found before anything is changed.
import { SluiceError } from "../../errors/sluiceError.ts";
import type { KubernetesObject } from "../../kubernetes/objects.ts";
import { count } from "../../model/count.ts";
import type { NodeContext } from "../../talos/access/nodeAccess.ts";
import { callersOf } from "./callers.ts";
import type { ClusterAccess } from "./clusterAccess.ts";
import { deprecatedCalls, listPath, nameOf, writersOf } from "./deprecatedCalls.ts";
import type { NodeKubernetes, UpgradeNode } from "./nodeKubernetes.ts";
import { removedResources, removedSettings } from "./removals.ts";
import type { UpgradePath } from "./upgradePath.ts";

export interface ObservedNode {
  readonly node: UpgradeNode;
  readonly kubernetes: NodeKubernetes;
}

/** The most nodes, or objects, that are named. */
const most = 5;

/** Refuses the upgrade with all that it would break. `accepted` are names of APIs that may be removed although they were asked for. */
export async function refuseRemoved(
  observed: readonly ObservedNode[],
  { from, to }: UpgradePath,
  { cluster, accepted }: { readonly cluster: ClusterAccess; readonly accepted: readonly string[] },
  context: NodeContext,
): Promise<void> {
  if (from.minor >= to.minor) return;
  context.report(`checks what Kubernetes 1.${to.minor} no longer has`);
  const settings = settingsInUse(observed, from.minor, to.minor);
  const apis = [
    ...(await callsInUse(cluster, to.minor, context)),
    ...(await objectsInUse(cluster, from.minor, to.minor, context)),
  ].filter(({ name }) => !accepted.includes(name));
  const found = [...settings, ...apis.map(({ words }) => words)];
  if (found.length === 0) return;
  const accept = apis.map(({ name }) => name).join(", ");
  throw new SluiceError({
    code: "SLU-K302",
    seen: `${found.join("\n")}\nNothing was changed`,
    ...(apis.length > 0 && { remedy: remedy(accept, settings.length > 0) }),
  });
}

function remedy(apis: string, hasSettings: boolean): string {
  const settings = hasSettings ? "Remove the settings with the old kubernetesVersion. " : "";
  return `${settings}Move what asks for these APIs to a version that stays (https://kubernetes.io/docs/reference/using-api/deprecation-guide/). An API server counts from its start on: if nobody needs an API any more, add it to \`upgrade.acceptRemovedApis\` (${apis}). Then run \`npm run up -- <environment>\` again.`;
}

/** Each setting once, with the nodes that have it. */
function settingsInUse(observed: readonly ObservedNode[], from: number, to: number): readonly string[] {
  const found = observed.flatMap(({ node, kubernetes }) =>
    kubernetes.settings.flatMap((settings) =>
      removedSettings(settings, from, to).map((what) => ({ what: `${settings.component}: ${what}`, node: node.name })),
    ),
  );
  return [...Map.groupBy(found, ({ what }) => what)].map(
    ([what, nodes]) => `${what}, set on ${named(nodes.map(({ node }) => node))}`,
  );
}

interface ApiInUse {
  readonly name: string;
  readonly words: string;
}

/** Each API server counts for itself, since its start. */
async function callsInUse(cluster: ClusterAccess, minor: number, context: NodeContext): Promise<readonly ApiInUse[]> {
  const counted = await Promise.all(
    cluster.controlPlanes.map(async (at) => {
      const kubeconfig = await cluster.serving(at, context, cluster.until());
      const calls = deprecatedCalls(await cluster.text(kubeconfig, "/metrics"), minor);
      return calls.map((one) => ({ name: nameOf(one), calls: one, at }));
    }),
  );
  return await Promise.all(
    [...Map.groupBy(counted.flat(), ({ name }) => name)].map(async ([name, found]) => {
      const callers = await Promise.all(found.map(({ calls, at }) => callersOf(calls, () => cluster.open(at))));
      const [who, writers] = [[...new Set(callers.flat())], await writersIn(cluster, name, context)];
      const words = [
        `${name} (removed in ${found[0]?.calls.removedIn}): the API server of ${named(found.map(({ at }) => at.name))} was asked for it`,
        who.length === 0 ? "" : ` by ${named(who)}`,
        writers.length === 0 ? "" : `; objects were written by ${named(writers)}`,
      ];
      return { name, words: words.join("") };
    }),
  );
}

/** Best effort: it only adds to what is known. */
async function writersIn(cluster: ClusterAccess, name: string, context: NodeContext): Promise<readonly string[]> {
  const objects = await cluster.list<KubernetesObject>(listPath(name), context).catch(() => []);
  return writersOf(objects, name);
}

/** Alpha versions are removed without having been deprecated, together with the objects that have no other. */
async function objectsInUse(
  cluster: ClusterAccess,
  from: number,
  to: number,
  context: NodeContext,
): Promise<readonly ApiInUse[]> {
  const found = await Promise.all(
    removedResources(from, to).map(async ({ name, removedIn }) => {
      const objects = await cluster.list<KubernetesObject>(listPath(name), context);
      const names = objects.map(({ metadata }) => [metadata.namespace, metadata.name].filter(Boolean).join("/"));
      const words = `${name} (removed in ${removedIn}): ${count(names.length, "object")} (${named(names)})`;
      return names.length === 0 ? [] : [{ name, words }];
    }),
  );
  return found.flat();
}

function named(names: readonly string[]): string {
  return names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
