// What a node runs, and how far it has booted.
import type { NodeClient } from "../../talos/access/nodeAccess.ts";
import { lookAt, type NodeLook } from "../../talos/access/nodeResources.ts";
import type { CallOptions } from "../../talos/client/connection.ts";
import { resources } from "../../talos/client/resources.ts";
import { fieldOf, textOf } from "../../talos/client/specs.ts";
import type { ResourceType } from "../../talos/client/talosClient.ts";

const metaKeys: ResourceType = { namespace: "runtime", type: "MetaKeys.runtime.talos.dev" };
/** The tag of META that names the boot entry before the last upgrade (pkg/machinery/meta). Talos deletes it once the machine is running and ready. */
const upgradeTag = "0x06";
const processes: ResourceType = { namespace: "runtime", type: "ServicePIDs.runtime.talos.dev" };

/** What a node that answers runs. */
export interface SystemLook extends NodeLook {
  /** Changes with each boot. */
  readonly bootId: string;
  /** It has no unmet conditions: it is Ready in Kubernetes too. */
  readonly isReady: boolean;
  /** Its unmet conditions, in Talos' words. */
  readonly unmet: readonly string[];
  /** Whether a failure of this boot returns it to its previous system. */
  readonly isOnTrial: boolean;
}

export async function lookAtSystem(client: NodeClient, options?: CallOptions): Promise<SystemLook> {
  const [node, bootId, machine, tag] = await Promise.all([
    lookAt(client, options),
    client.bootId(options),
    client.get(resources.machineStatus, "machine", options),
    client.get(metaKeys, upgradeTag, options),
  ]);
  const status = fieldOf(machine?.spec, "status");
  return {
    ...node,
    bootId,
    isReady: fieldOf(status, "ready") === true,
    unmet: unmetOf(fieldOf(status, "unmetConditions")),
    isOnTrial: tag !== undefined,
  };
}

function unmetOf(conditions: unknown): readonly string[] {
  if (!Array.isArray(conditions)) return [];
  return conditions.map((one) => `${textOf(one, "name")}: ${textOf(one, "reason")}`);
}

/** Whether an installer runs on the node now, whoever started it. Known since Talos 1.13. */
export async function isInstalling(client: NodeClient, options?: CallOptions): Promise<boolean> {
  return (await client.get(processes, "installer", options).catch(() => undefined)) !== undefined;
}
