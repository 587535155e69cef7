import type { ResourceContext } from "../../engine/resourceContext.ts";
import { type NodeState, probe } from "../client/nodeState.ts";
import { TalosClient, type TalosCredentials } from "../client/talosClient.ts";

/** The calls that Sluice makes to a node. */
export type NodeClient = Pick<
  TalosClient,
  | "applyConfiguration"
  | "bootId"
  | "bootstrap"
  | "close"
  | "etcdForfeitLeadership"
  | "etcdLeave"
  | "etcdMembers"
  | "etcdRecover"
  | "etcdRemoveMember"
  | "etcdSnapshot"
  | "fileLines"
  | "get"
  | "hasEtcdData"
  | "kernelLines"
  | "kubeconfig"
  | "list"
  | "logLines"
  | "podLines"
  | "reboot"
  | "reset"
  | "restartKubelet"
  | "services"
  | "system"
  | "systemImages"
  | "version"
  | "watch"
>;

/** The ways to connect to a node; tests replace them. */
export interface NodeAccess {
  /** Never throws, and has a time limit. */
  probe(talosAddress: string, credentials: TalosCredentials): Promise<NodeState>;
  maintenance(talosAddress: string): NodeClient;
  /** `node` is another node, reached through the one at talosAddress. */
  configured(talosAddress: string, credentials: TalosCredentials, node?: string): NodeClient;
}

/** What work on nodes uses from its environment; tests replace it. */
export interface NodeContext extends Omit<ResourceContext, "note"> {
  readonly access: NodeAccess;
}

/** The same for a resource that the engine runs, which may leave diagnostics. */
export interface NodeResourceContext extends ResourceContext {
  readonly access: NodeAccess;
}

export const realAccess: NodeAccess = {
  probe,
  maintenance: (talosAddress) => TalosClient.maintenance(talosAddress),
  configured: (talosAddress, credentials, node) => TalosClient.configured(talosAddress, credentials, node),
};

/** Uses a connection, and closes it in any case. */
export async function using<T>(client: NodeClient, work: (client: NodeClient) => Promise<T>): Promise<T> {
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** The engine's context, with access to real nodes. */
export function nodeContext(context: ResourceContext): NodeResourceContext {
  return { ...context, access: realAccess };
}
