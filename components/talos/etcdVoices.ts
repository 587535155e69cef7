import { resources } from "./client/resources.ts";
import type { TalosCredentials, TalosService } from "./client/talosClient.ts";
import { follow, OutOfTime } from "./followNode.ts";
import { type NodeClient, using, type World } from "./nodeAccess.ts";
import { asFailure, NodeFailure } from "./nodeFailure.ts";
import { isEtcdHealthy } from "./nodeResources.ts";

/** What a control plane says of its etcd. */
export type EtcdLook =
  | { readonly kind: "there"; readonly why: string }
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string };

/** States of etcd's service until it is started: before the bootstrap it waits for its first data. */
const beforeStart = new Set(["Initialized", "Waiting", "Preparing"]);

/** Whether etcd was ever started on a node, by its services; not known where it has not come to etcd yet. */
function etcdIn(services: readonly Pick<TalosService, "id" | "state">[]): EtcdLook["kind"] {
  const etcd = services.find(({ id }) => id === "etcd");
  if (etcd === undefined) return "unknown";
  return beforeStart.has(etcd.state) ? "none" : "there";
}

/** Whether etcd has been started on a node that answers. */
export async function hasEtcd(client: NodeClient): Promise<boolean> {
  return etcdIn(await client.services()) === "there";
}

/** Whether etcd was ever started on a control plane. Only one that is in maintenance, or says so itself, has none for certain. */
export async function lookAtEtcd(
  { node, endpoint }: { readonly node: string; readonly endpoint: string },
  credentials: TalosCredentials,
  { access }: Pick<World, "access">,
): Promise<EtcdLook> {
  const state = await access.probe(endpoint, credentials);
  if (state.kind === "maintenance") return { kind: "none" };
  if (state.kind === "settling") return { kind: "unknown", why: `${node} is in stage ${state.stage}` };
  if (state.kind !== "ours") return { kind: "unknown", why: `${node} is ${state.kind}: ${state.why}` };
  try {
    const services = await using(access.configured(endpoint, credentials), (client) => client.services());
    const kind = etcdIn(services);
    if (kind === "unknown") return { kind, why: `${node} has not come to etcd yet` };
    return kind === "there" ? { kind, why: `etcd is on ${node}` } : { kind };
  } catch (error) {
    return { kind: "unknown", why: `${node}: ${asFailure(error, "SLU-T207").seen}` };
  }
}

export interface EtcdWait {
  readonly open: () => NodeClient;
  /** By the clock. */
  readonly until: number;
  /** Told when the connection is gone; what it throws ends the wait. */
  readonly lost?: () => Promise<void>;
}

/** Resolves once etcd's own health check on a node says that it is well. */
export async function etcdIsHealthy(node: string, wait: EtcdWait, world: World): Promise<void> {
  world.report(`waits for etcd on ${node} to be healthy`);
  const judge = (specs: ReadonlyMap<string, unknown>) => isEtcdHealthy(specs.get("etcd")) || undefined;
  await follow(world, { ...wait, of: resources.services, judge });
}

/** The same for a member of a cluster in which something is to be changed: time that is up is the member's fault. */
export async function memberIsHealthy(member: string, wait: EtcdWait, world: World): Promise<void> {
  try {
    await etcdIsHealthy(member, wait, world);
  } catch (error) {
    if (error instanceof OutOfTime) throw new NodeFailure("SLU-T321", `etcd on ${member} is not healthy`);
    throw error;
  }
}
