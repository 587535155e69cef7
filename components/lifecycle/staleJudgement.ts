// Which objects of a cluster that was restored belong to machines that are gone.
import type { KubernetesNode, KubernetesObject } from "../kubernetes/objects.ts";

/** A node of the environment, and what is known of its machine now. */
export interface CurrentMachine {
  readonly name: string;
  /** As its firmware reports it. */
  readonly uuid?: string | undefined;
  /** As the cloud controller names it. */
  readonly providerId?: string | undefined;
}

/** The backup that the cluster was restored from. */
export interface SnapshotFacts {
  /** In UTC, ISO 8601. */
  readonly takenAt: string;
  /** The machines' UUIDs at that time, by node. */
  readonly uuids: Readonly<Record<string, string>>;
}

export interface VolumeAttachment extends KubernetesObject {
  readonly spec: { readonly nodeName: string; readonly source?: { readonly persistentVolumeName?: string } };
}

export interface Lease extends KubernetesObject {
  readonly spec?: { readonly renewTime?: string };
}

/** What there is of nodes. */
export interface NodeObjects {
  readonly nodes: readonly KubernetesNode[];
  readonly attachments: readonly VolumeAttachment[];
  readonly leases: readonly Lease[];
  readonly csiNodes: readonly KubernetesObject[];
  readonly ciliumNodes: readonly KubernetesObject[];
}

/** An object to delete, with its path, and the words for it. */
export interface StaleObject {
  readonly path: string;
  readonly words: string;
}

export interface StaleFindings {
  readonly objects: readonly StaleObject[];
  /** Nodes of the environment without a Node object of their machine: a kubelet registers only when it starts. */
  readonly unregistered: readonly string[];
}

/** `silent` are Nodes that the environment does not list, and whose kubelets do not renew their leases. */
export function staleObjects(
  { nodes, attachments, leases, csiNodes, ciliumNodes }: NodeObjects,
  machines: readonly CurrentMachine[],
  snapshot: SnapshotFacts | undefined,
  silent: readonly string[] = [],
): StaleFindings {
  const stale = nodes.flatMap((node) => {
    const { name } = node.metadata;
    const machine = machines.find((one) => one.name === name);
    const why = machine === undefined ? silentWords(name, silent) : otherMachine(node, machine, snapshot);
    return why === undefined ? [] : [{ name, why }];
  });
  const staleNames = new Set(stale.map(({ name }) => name));
  const present = new Set(nodes.map(({ metadata }) => metadata.name).filter((name) => !staleNames.has(name)));
  const isGone = (name: string) => !present.has(name);
  return {
    objects: [
      ...stale.map(({ name, why }) => ({ path: `${paths.nodes}/${name}`, words: `Node ${name}: ${why}` })),
      ...attachments
        .filter(({ spec, metadata }) => isGone(spec.nodeName) && metadata.deletionTimestamp === undefined)
        .map(({ metadata: { name }, spec: { nodeName, source } }) => ({
          path: `${paths.attachments}/${name}`,
          words: `VolumeAttachment of ${source?.persistentVolumeName ?? name} to ${nodeName}: that machine is gone`,
        })),
      ...leases
        .filter(({ metadata }) => isGone(metadata.name))
        .map(({ metadata: { name } }) => ({ path: `${paths.leases}/${name}`, words: `Lease of the node ${name}` })),
      // Otherwise a kubelet that starts updates it, and after that it is deleted with the Node that owns it.
      ...csiNodes
        .filter(({ metadata }) => isGone(metadata.name))
        .map(({ metadata: { name } }) => ({ path: `${paths.csiNodes}/${name}`, words: `CSINode ${name}` })),
      ...ciliumNodes
        .filter(({ metadata }) => isGone(metadata.name))
        .map(({ metadata: { name } }) => ({ path: `${paths.ciliumNodes}/${name}`, words: `CiliumNode ${name}` })),
    ],
    unregistered: machines.map(({ name }) => name).filter(isGone),
  };
}

/** Where the objects are. */
export const paths = {
  nodes: "/api/v1/nodes",
  attachments: "/apis/storage.k8s.io/v1/volumeattachments",
  leases: "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
  csiNodes: "/apis/storage.k8s.io/v1/csinodes",
  ciliumNodes: "/apis/cilium.io/v2/ciliumnodes",
} as const;

/** Nodes of the snapshot that the environment does not list: whether their machines live, only their leases show. */
export function unlisted(
  { nodes }: Pick<NodeObjects, "nodes">,
  machines: readonly CurrentMachine[],
  snapshot: SnapshotFacts | undefined,
): readonly string[] {
  return nodes
    .filter((node) => isOf(snapshot, node) && !machines.some(({ name }) => name === node.metadata.name))
    .map(({ metadata }) => metadata.name);
}

/** Undefined if the Node is that of the machine, or if nothing shows that it is not. */
function otherMachine(
  node: KubernetesNode,
  { uuid, providerId }: CurrentMachine,
  snapshot: SnapshotFacts | undefined,
): string | undefined {
  const { spec, status, metadata } = node;
  const was = isOf(snapshot, node) ? snapshot?.uuids[metadata.name] : undefined;
  const pairs: readonly (readonly [what: string, has: string | undefined, is: string | undefined])[] = [
    ["provider id", spec?.providerID, providerId],
    ["machine UUID", status?.nodeInfo?.systemUUID, uuid],
    // A kubelet may have written its machine's UUID into the Node of the one before.
    ["machine UUID", was, uuid],
  ];
  const different = pairs.find(([, has, is]) => has && is && has.toLowerCase() !== is.toLowerCase());
  if (different === undefined) return undefined;
  const [what, has, is] = different;
  return `it is of a machine that is gone, whose ${what} was ${has}; now it is ${is}`;
}

function silentWords(name: string, silent: readonly string[]): string | undefined {
  return silent.includes(name) ? "its machine is not in the environment, and does not renew its lease" : undefined;
}

/** Whether it existed when the backup was taken. */
function isOf(snapshot: SnapshotFacts | undefined, { metadata }: KubernetesObject): boolean {
  const { creationTimestamp } = metadata;
  return (
    snapshot !== undefined &&
    creationTimestamp !== undefined &&
    Date.parse(creationTimestamp) <= Date.parse(snapshot.takenAt)
  );
}
