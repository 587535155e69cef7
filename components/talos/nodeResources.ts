// What is read of a node's resources, by the names that Talos gives them.
import type { MachineIdentity } from "../machines/machine.ts";
import type { CallOptions } from "./client/connection.ts";
import { resources } from "./client/resources.ts";
import { fieldOf, textOf } from "./client/specs.ts";
import type { ResourceType } from "./client/talosClient.ts";
import { type Disk, describeDisk } from "./installDisk.ts";
import { identityFaults, readTraits } from "./machineTraits.ts";
import type { NodeClient } from "./nodeAccess.ts";

/** Sensitive: only shown to who is admin on a node that has its config. */
export const machineConfigs: ResourceType = { namespace: "config", type: "MachineConfigs.config.talos.dev" };
const extensions: ResourceType = { namespace: "runtime", type: "ExtensionStatuses.runtime.talos.dev" };

/** Ids of `machineConfigs`: the config that runs, and the one that the next boot begins with. */
export const runningId = "v1alpha1";
export const persistentId = "persistent";

/** What is looked at on a node that answers. */
export interface NodeLook {
  readonly version: string;
  /** Nothing where the image is of no Image Factory. */
  readonly schematic: string;
  readonly stage: string;
}

export async function lookAt(client: NodeClient, options?: CallOptions): Promise<NodeLook> {
  const [{ version }, status, found] = await Promise.all([
    client.version(options),
    client.get(resources.machineStatus, "machine", options),
    client.list(extensions, options),
  ]);
  const metadata = found.map(({ spec }) => fieldOf(spec, "metadata"));
  const schematic = metadata.find((extension) => textOf(extension, "name") === "schematic");
  return {
    version: version.replace(/^v/, ""),
    schematic: textOf(schematic, "version"),
    stage: stageOf(status?.spec),
  };
}

/** Of a machine's status; nothing where it has none yet. */
export function stageOf(spec: unknown): string {
  return textOf(spec, "stage");
}

/** The config that runs, as it was sent. */
export async function runningConfig(client: NodeClient, options?: CallOptions): Promise<string | undefined> {
  return configText((await client.get(machineConfigs, runningId, options))?.spec);
}

export async function persistentConfig(client: NodeClient, options?: CallOptions): Promise<string | undefined> {
  return configText((await client.get(machineConfigs, persistentId, options))?.spec);
}

export function configText(spec: unknown): string | undefined {
  return typeof spec === "string" ? spec : undefined;
}

/** In words, for a person who has to choose one; nothing when the node does not tell. */
export async function describeDisks(client: NodeClient): Promise<readonly string[] | undefined> {
  const disks = await client.list(resources.disks).catch(() => undefined);
  return disks?.map(({ spec }) => describeDisk(spec as Disk));
}

/** etcd's service as a resource: it runs, and its health check says so. */
export function isEtcdHealthy(spec: unknown): boolean {
  return fieldOf(spec, "running") === true && fieldOf(spec, "healthy") === true;
}

/** In words where the machine is not the one meant. */
export async function identityFault(
  client: NodeClient,
  identity: MachineIdentity,
  options?: CallOptions,
): Promise<string | undefined> {
  if (identity.mac === undefined && identity.uuid === undefined) return undefined;
  const faults = identityFaults(identity, await readTraits(client, options));
  return faults.length === 0 ? undefined : faults.join("; ");
}
