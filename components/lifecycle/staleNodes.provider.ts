// The operations of StaleNodes.
import { isDeepStrictEqual } from "node:util";
import { chooseBackup } from "../backup/restorePoint.ts";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { KubernetesObjects } from "../kubernetes/kubernetesObjects.ts";
import type { KubernetesNode, KubernetesObject } from "../kubernetes/objects.ts";
import { readTraits } from "../talos/access/machineTraits.ts";
import { type NodeResourceContext, nodeContext, using } from "../talos/access/nodeAccess.ts";
import { asFailure } from "../talos/access/nodeFailure.ts";
import { pause } from "../waiting/clock.ts";
import { resultWithin } from "../waiting/deadline.ts";
import { poll } from "../waiting/poll.ts";
import {
  type CurrentMachine,
  type Lease,
  type NodeObjects,
  paths,
  type SnapshotFacts,
  staleObjects,
  unlisted,
  type VolumeAttachment,
} from "./staleJudgement.ts";
import type { RestoredNode, StaleNodesArgs } from "./staleNodes.ts";

export type StaleNodesInputs = ResourceInputs<StaleNodesArgs>;

/** Seconds in which a kubelet that runs renews its lease: it does so every ten, and after failures waits up to seven more. */
const silentSeconds = 45;
/** Seconds for a node, or the backup target, to answer: what it does not answer is not known. */
const askSeconds = 5;

export const operations = {
  id: () => "stale-nodes",

  async create(inputs, context) {
    const { clock } = context;
    const until = clock.now() + inputs.deadlineSeconds * 1000;
    const attempt = async () => {
      try {
        return { found: await deleteStale(inputs, context) };
      } catch (error) {
        const failure = asFailure(error, "SLU-K101");
        if (!failure.retryable) throw failure;
        context.report(`${failure.seen}; retrying`);
        return { late: failure };
      }
    };
    await poll(attempt, { ...context, until: () => until });
    return inputs;
  },

  difference(olds, news) {
    const matters = ({ nodes, restored }: StaleNodesInputs) => [nodes, restored];
    if (!isDeepStrictEqual(matters(olds), matters(news))) return { kind: "update" };
    const isSame = isDeepStrictEqual([olds.plan, olds.kubeconfig], [news.plan, news.kubeconfig]);
    return { kind: isSame ? "none" : "record" };
  },

  outcome: () => "there are no Nodes of machines that are gone",
} satisfies ResourceOperations<StaleNodesInputs, StaleNodesInputs, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<
  StaleNodesInputs,
  StaleNodesInputs,
  NodeResourceContext
>(operations, nodeContext);

/** Can be repeated: what was deleted is not found again. */
async function deleteStale(inputs: StaleNodesInputs, context: NodeResourceContext): Promise<void> {
  const { clock, report, note } = context;
  const kubernetes = new KubernetesObjects(inputs.kubeconfig, clock);
  const [machines, snapshot] = await Promise.all([
    Promise.all(inputs.nodes.map((node) => currentMachine(node, inputs, context))),
    snapshotFacts(inputs, context),
  ]);
  const there = await nodeObjects(kubernetes);
  const silent = await silentAmong(unlistedIn(there, machines, snapshot, inputs), there.leases, kubernetes, context);
  const { objects, unregistered } = staleObjects(there, machines, snapshot, silent);
  for (const { path, words } of objects) {
    await kubernetes.remove(path);
    await note(`deleted ${words}`, "info");
  }
  for (const name of unregistered) {
    const node = inputs.nodes.find((one) => one.name === name);
    if (node === undefined) continue;
    report(`restarts the kubelet of ${name}, which registers its node when it starts`);
    await using(context.access.configured(node.talosAddress, inputs.credentials), (client) => client.restartKubelet());
  }
}

/** In a cluster that this state has not restored, Nodes that it does not list are none of its business. */
function unlistedIn(
  there: NodeObjects,
  machines: readonly CurrentMachine[],
  snapshot: SnapshotFacts | undefined,
  { restored }: StaleNodesInputs,
): readonly string[] {
  return restored === undefined ? [] : unlisted(there, machines, snapshot);
}

/** Those whose lease does not change for a while. */
async function silentAmong(
  names: readonly string[],
  before: readonly Lease[],
  kubernetes: KubernetesObjects,
  { clock, report }: NodeResourceContext,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  report(`waits ${silentSeconds} s for signs of life of ${names.join(", ")}`);
  await pause(clock, silentSeconds * 1000);
  const after = await listed<Lease>(kubernetes, paths.leases);
  const renewed = (leases: readonly Lease[], name: string) =>
    leases.find(({ metadata }) => metadata.name === name)?.spec?.renewTime;
  return names.filter((name) => renewed(before, name) === renewed(after, name));
}

/** The UUID as the machine reports it, or as the platform knows it. */
async function currentMachine(
  { talosAddress, ...node }: RestoredNode,
  { credentials }: StaleNodesInputs,
  { access, clock }: NodeResourceContext,
): Promise<CurrentMachine> {
  const asked = using(access.configured(talosAddress, credentials), (client) =>
    readTraits(client, { deadlineSeconds: askSeconds }),
  );
  const uuid = (await resultWithin(clock, askSeconds * 1000, asked))?.uuid || node.uuid;
  return { ...node, uuid };
}

/** Undefined if the backup cannot be read now: what only it knows is not used then. */
async function snapshotFacts(
  { plan, restored }: StaleNodesInputs,
  { clock }: NodeResourceContext,
): Promise<SnapshotFacts | undefined> {
  const from = plan.from === "latest" && restored !== undefined ? restored.name : plan.from;
  const chosen = await resultWithin(clock, askSeconds * 1000, chooseBackup({ ...plan, from }, clock));
  if (chosen === undefined) return undefined;
  const { takenAt, cluster } = chosen.manifest;
  const uuids = Object.fromEntries(
    cluster.nodes.flatMap(({ name, uuid }) => (uuid === undefined ? [] : [[name, uuid]])),
  );
  return { takenAt, uuids };
}

async function nodeObjects(kubernetes: KubernetesObjects): Promise<NodeObjects> {
  const [nodes, attachments, leases, csiNodes, ciliumNodes] = await Promise.all([
    listed<KubernetesNode>(kubernetes, paths.nodes),
    listed<VolumeAttachment>(kubernetes, paths.attachments),
    listed<Lease>(kubernetes, paths.leases),
    listed<KubernetesObject>(kubernetes, paths.csiNodes),
    listed<KubernetesObject>(kubernetes, paths.ciliumNodes),
  ]);
  return { nodes, attachments, leases, csiNodes, ciliumNodes };
}

/** None where the API does not know the kind. */
async function listed<T>(kubernetes: KubernetesObjects, path: string): Promise<readonly T[]> {
  return (await kubernetes.get<{ readonly items: readonly T[] }>(path))?.items ?? [];
}
