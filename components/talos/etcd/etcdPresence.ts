import { SluiceError } from "../../errors/sluiceError.ts";
import type { Peer } from "../../model/peer.ts";
import { follow, OutOfTime } from "../access/followNode.ts";
import { type NodeClient, type NodeContext, using } from "../access/nodeAccess.ts";
import { asFailure } from "../access/nodeFailure.ts";
import { isEtcdHealthy } from "../access/nodeResources.ts";
import { resources } from "../client/resources.ts";
import type { TalosCredentials } from "../client/talosClient.ts";

/** What a control plane reports about its etcd. */
export type EtcdLook =
  | { readonly kind: "there"; readonly why: string }
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Whether a node that answers has an etcd: a running one, or its data. In any other state of the service there is none: it is Preparing while it waits for
 * the bootstrap, and Failed or Finished after a cancelled bootstrap. Unknown if the node has not reached etcd in its boot.
 */
async function etcdOf(client: NodeClient): Promise<EtcdLook["kind"]> {
  const etcd = (await client.services()).find(({ id }) => id === "etcd");
  if (etcd === undefined) return "unknown";
  return etcd.state === "Running" || (await client.hasEtcdData()) ? "there" : "none";
}

/** Whether etcd has been started on a node that answers. */
export async function hasEtcd(client: NodeClient): Promise<boolean> {
  return (await etcdOf(client)) === "there";
}

/** Whether etcd was ever started on a control plane. Only one in maintenance, or one that reports it itself, certainly has none. */
export async function lookAtEtcd(
  { name, talosAddress }: Pick<Peer, "name" | "talosAddress">,
  credentials: TalosCredentials,
  { access }: Pick<NodeContext, "access">,
): Promise<EtcdLook> {
  const state = await access.probe(talosAddress, credentials);
  if (state.kind === "maintenance") return { kind: "none" };
  if (state.kind === "settling") return { kind: "unknown", why: `${name} is in stage ${state.stage}` };
  if (state.kind !== "ours") return { kind: "unknown", why: `${name} is ${state.kind}: ${state.why}` };
  try {
    const kind = await using(access.configured(talosAddress, credentials), etcdOf);
    if (kind === "unknown") return { kind, why: `${name} has not reached etcd in its boot yet` };
    return kind === "there" ? { kind, why: `etcd is on ${name}` } : { kind };
  } catch (error) {
    return { kind: "unknown", why: `${name}: ${asFailure(error, "SLU-T207").seen}` };
  }
}

export interface EtcdWait {
  readonly open: () => NodeClient;
  /** Deadline, by the clock. */
  readonly until: number;
}

/** Resolves once a member's etcd passes its health check. If time runs out, the failure names this member, whichever node is being changed. */
export async function memberIsHealthy(member: string, wait: EtcdWait, context: NodeContext): Promise<void> {
  context.report(`waits for etcd on ${member} to be healthy`);
  const judge = (specs: ReadonlyMap<string, unknown>) => isEtcdHealthy(specs.get("etcd")) || undefined;
  try {
    await follow(context, { ...wait, of: resources.services, judge });
  } catch (error) {
    if (error instanceof OutOfTime)
      throw new SluiceError({ code: "SLU-T321", seen: `etcd on ${member} is not healthy` });
    throw error;
  }
}
