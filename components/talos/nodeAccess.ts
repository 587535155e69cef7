import type { Clock } from "../gates/clock.ts";
import { type NodeState, probe } from "./client/nodeState.ts";
import { TalosClient, type TalosCredentials } from "./client/talosClient.ts";

/** The calls that are made of a node. */
export type NodeClient = Pick<
  TalosClient,
  | "applyConfiguration"
  | "bootId"
  | "bootstrap"
  | "close"
  | "etcdForfeitLeadership"
  | "etcdLeave"
  | "etcdMembers"
  | "etcdRemoveMember"
  | "get"
  | "kubeconfig"
  | "list"
  | "reboot"
  | "reset"
  | "services"
  | "version"
  | "watch"
>;

/** The ways to a node; tests bring nodes of their own. */
export interface NodeAccess {
  /** Never throws, and is bounded. */
  probe(endpoint: string, credentials: TalosCredentials): Promise<NodeState>;
  maintenance(endpoint: string): NodeClient;
  /** `node` is another one than the endpoint, reached through it. */
  configured(endpoint: string, credentials: TalosCredentials, node?: string): NodeClient;
}

/** All that work on a node needs of the world around. */
export interface World {
  readonly access: NodeAccess;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly chance: () => number;
  /** Says on the resource's own line what is going on. */
  readonly report: (text: string) => void;
  /** Comes when nobody waits any more: nothing new is begun then. */
  readonly interrupted?: AbortSignal;
}

export const realAccess: NodeAccess = {
  probe,
  maintenance: (endpoint) => TalosClient.maintenance(endpoint),
  configured: (endpoint, credentials, node) => TalosClient.configured(endpoint, credentials, node),
};

/** Does something with a connection, and ends it whatever comes of it. */
export async function using<T>(client: NodeClient, work: (client: NodeClient) => Promise<T>): Promise<T> {
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
