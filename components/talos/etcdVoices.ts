import { resources } from "./client/resources.ts";
import { follow, OutOfTime } from "./followNode.ts";
import type { NodeClient, World } from "./nodeAccess.ts";
import { NodeFailure } from "./nodeFailure.ts";
import { isEtcdHealthy } from "./nodeResources.ts";

/** etcd has been started here: before the bootstrap its service waits. */
export async function hasEtcd(client: NodeClient): Promise<boolean> {
  const etcd = (await client.services()).find(({ id }) => id === "etcd");
  return etcd !== undefined && etcd.state !== "Preparing" && etcd.state !== "Waiting";
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
