// What runs: each node with its machine config, etcd's members, and what Kubernetes knows. Only reads, and asks nothing of a node that is not ours.
import { isIPv4 } from "node:net";
import { reasonOf } from "../../components/errors/reasonOf.ts";
import { KubernetesClient, KubernetesError } from "../../components/kubernetes/client.ts";
import { deployedReleases, type HelmRelease } from "../../components/kubernetes/helmReleases.ts";
import type { KubernetesNode } from "../../components/kubernetes/objects.ts";
import type { MachineIdentity } from "../../components/model/machine.ts";
import type { Role } from "../../components/model/role.ts";
import { list, record, text } from "../../components/model/untyped.ts";
import { identityFaults, readTraits } from "../../components/talos/access/machineTraits.ts";
import { type NodeAccess, type NodeClient, using } from "../../components/talos/access/nodeAccess.ts";
import {
  type ImageContent,
  imageContent,
  lookAt,
  type NodeLook,
  persistentConfig,
  runningConfig,
} from "../../components/talos/access/nodeResources.ts";
import { resources } from "../../components/talos/client/resources.ts";
import { textOf } from "../../components/talos/client/specs.ts";
import type { EtcdMember, TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { hasEtcd } from "../../components/talos/etcd/etcdPresence.ts";
import { accessThrough } from "../../components/talos/etcd/kubernetesAccess.ts";
import type { Clock } from "../../components/waiting/clock.ts";
import { withDeadline } from "../../components/waiting/deadline.ts";

/** A node as the environment has it, and where it is reached. */
export interface ExpectedNode {
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  readonly talosAddress: string;
  readonly identity: MachineIdentity;
}

/** An address of a node, and the NIC that has it. */
export interface NodeAddress {
  /** With its prefix length. */
  readonly address: string;
  /** Empty where the link has none. */
  readonly mac: string;
}

export interface RunningNode extends NodeLook {
  readonly kind: "runs";
  readonly name: string;
  readonly role: Role;
  /** Secret. */
  readonly config: string;
  /** The one for the next boot. Secret. */
  readonly persistent: string;
  readonly hostname: string;
  readonly uuid: string;
  readonly addresses: readonly NodeAddress[];
  readonly image: ImageContent;
  /** Why it is another machine than its entry says, as text. */
  readonly identityFaults: readonly string[];
  /** Of a control plane. */
  readonly etcd?: { readonly isThere: boolean; readonly members: readonly EtcdMember[] };
}

/** A node that is not part of the cluster, or was not reached. */
export interface RefusedNode {
  readonly kind: "refused";
  readonly name: string;
  readonly why: string;
  /** Whether it belongs to another cluster. */
  readonly isForeign: boolean;
}

export interface KubernetesLook {
  readonly nodes: readonly KubernetesNode[];
  readonly releases: readonly HelmRelease[];
  /** Those of the asked paths at which there is an object, with the object. */
  readonly objects: Readonly<Record<string, unknown>>;
}

export interface ClusterLook {
  readonly nodes: readonly (RunningNode | RefusedNode)[];
  /** A text says why it is not known. */
  readonly kubernetes: KubernetesLook | string;
}

export interface LookContext {
  readonly access: NodeAccess;
  readonly clock: Clock;
}

/** Seconds for all that is asked of a node, or of the Kubernetes API. */
const deadlineSeconds = 20;

export async function lookAtCluster(
  nodes: readonly ExpectedNode[],
  credentials: TalosCredentials,
  paths: readonly string[],
  context: LookContext,
): Promise<ClusterLook> {
  const bounded = <T>(work: Promise<T>) =>
    withDeadline(context.clock, deadlineSeconds * 1000, work, () => new Error(`no answer within ${deadlineSeconds} s`));
  const seen = await Promise.all(
    nodes.map((node) =>
      bounded(lookAtNode(node, credentials, context)).catch((error) => refused(node, reasonOf(error))),
    ),
  );
  const running = new Set(seen.flatMap(({ kind, name }) => (kind === "runs" ? [name] : [])));
  const controlPlanes = nodes.filter(({ name, role }) => role === "controlplane" && running.has(name));
  const kubernetes = await bounded(lookAtKubernetes(controlPlanes, credentials, paths, context)).catch(reasonOf);
  return { nodes: seen, kubernetes };
}

/** The nodes of a cluster by the Node objects in it, through these control planes. */
export async function discoverNodes(
  seeds: readonly string[],
  credentials: TalosCredentials,
  context: LookContext,
): Promise<readonly ExpectedNode[]> {
  const controlPlanes = seeds.map((seed) => ({
    name: seed,
    role: "controlplane" as const,
    address: seed,
    talosAddress: seed,
    identity: {},
  }));
  const { nodes } = await lookAtKubernetes(controlPlanes, credentials, [], context);
  return nodes.flatMap((node) => {
    const { name } = node.metadata;
    const address = internalAddress(node);
    if (address === undefined) return [];
    const isControlPlane = node.metadata.labels?.["node-role.kubernetes.io/control-plane"] !== undefined;
    const role = isControlPlane ? ("controlplane" as const) : ("worker" as const);
    return [{ name, role, address, talosAddress: address, identity: {} }];
  });
}

function internalAddress({ status }: KubernetesNode): string | undefined {
  const all = list(record(status).addresses).map(record);
  const internal = all.find(({ type, address }) => type === "InternalIP" && isIPv4(text(address)));
  return internal && text(internal.address);
}

async function lookAtNode(
  node: ExpectedNode,
  credentials: TalosCredentials,
  { access }: LookContext,
): Promise<RunningNode | RefusedNode> {
  const { talosAddress } = node;
  const state = await access.probe(talosAddress, credentials);
  if (state.kind === "ours") return using(access.configured(talosAddress, credentials), (client) => read(node, client));
  if (state.kind === "foreign") return { ...refused(node, state.why), isForeign: true };
  if (state.kind === "maintenance") return refused(node, "is in maintenance, without a config");
  if (state.kind === "settling") return refused(node, `is in stage ${state.stage}, and waits for its certificate`);
  return refused(node, `does not answer at ${talosAddress}: ${state.why}`);
}

async function read({ name, role, identity }: ExpectedNode, client: NodeClient): Promise<RunningNode> {
  const options = { deadlineSeconds };
  const [look, config = "", persistent, traits, hostname, addresses, links, image, members, isThere] =
    await Promise.all([
      lookAt(client, options),
      runningConfig(client, options),
      persistentConfig(client, options),
      readTraits(client, options),
      client.get(resources.hostname, "hostname", options),
      client.list(resources.addresses, options),
      client.list(resources.links, options),
      imageContent(client, options),
      role === "controlplane" ? client.etcdMembers(options) : undefined,
      role === "controlplane" ? hasEtcd(client) : undefined,
    ]);
  return {
    kind: "runs",
    name,
    role,
    ...look,
    config,
    persistent: persistent ?? config,
    hostname: textOf(hostname?.spec, "hostname"),
    uuid: traits.uuid,
    addresses: addresses.map(({ spec }) => ({
      address: textOf(spec, "address"),
      mac: textOf(links.find(({ id }) => id === textOf(spec, "linkName"))?.spec, "hardwareAddr"),
    })),
    image,
    identityFaults: identityFaults(identity, traits),
    ...(members !== undefined && isThere !== undefined && { etcd: { isThere, members } }),
  };
}

function refused({ name }: ExpectedNode, why: string): RefusedNode {
  return { kind: "refused", name, why, isForeign: false };
}

/** Through the first control plane whose API server is ready. */
async function lookAtKubernetes(
  controlPlanes: readonly ExpectedNode[],
  credentials: TalosCredentials,
  paths: readonly string[],
  context: LookContext,
): Promise<KubernetesLook> {
  const faults: string[] = [];
  for (const node of controlPlanes) {
    try {
      const kubeconfig = await accessThrough(node, credentials, context);
      return await readKubernetes(new KubernetesClient(kubeconfig, context.clock), paths);
    } catch (error) {
      faults.push(`${node.name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(faults.join("; ") || "no control plane was reached");
}

async function readKubernetes(client: KubernetesClient, paths: readonly string[]): Promise<KubernetesLook> {
  const call = { signal: new AbortController().signal, deadlineMs: deadlineSeconds * 1000 };
  const objects = paths.map(async (path) => {
    try {
      return [[path, await client.json<unknown>(path, call)] as const];
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) return [];
      throw error;
    }
  });
  const [{ items: nodes }, releases, found] = await Promise.all([
    client.json<{ readonly items: readonly KubernetesNode[] }>("/api/v1/nodes", call),
    deployedReleases(client),
    Promise.all(objects),
  ]);
  return { nodes, releases, objects: Object.fromEntries(found.flat()) };
}
