// Reads a node's resources, by Talos' names of them.
import type { MachineIdentity } from "../../model/machine.ts";
import type { CallOptions } from "../client/connection.ts";
import { resources } from "../client/resources.ts";
import { fieldOf, textOf } from "../client/specs.ts";
import type { ResourceType } from "../client/talosClient.ts";
import { type Disk, describeDisk, machineDisks } from "../config/installDisk.ts";
import { identityFaults, readTraits } from "./machineTraits.ts";
import type { NodeClient } from "./nodeAccess.ts";

/** Sensitive: a node that has its config serves it only to admins. */
export const machineConfigs: ResourceType = { namespace: "config", type: "MachineConfigs.config.talos.dev" };
const extensions: ResourceType = { namespace: "runtime", type: "ExtensionStatuses.runtime.talos.dev" };

/** Ids of `machineConfigs`: the running config, and the one for the next boot. */
export const runningId = "v1alpha1";
export const persistentId = "persistent";

/** What is read from a node that answers. */
export interface NodeLook {
  readonly version: string;
  /** Empty if the image is not from an Image Factory. */
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

/** What the image of a node contains. */
export interface ImageContent {
  /** The names of its system extensions. */
  readonly extensions: readonly string[];
  /** Its schematic, as YAML; empty if the node does not report it. */
  readonly schematicText: string;
}

export async function imageContent(client: NodeClient, options?: CallOptions): Promise<ImageContent> {
  const all = (await client.list(extensions, options)).map(({ spec }) => fieldOf(spec, "metadata"));
  const names = all.map((extension) => textOf(extension, "name"));
  return {
    extensions: names.filter((name) => !notExtensions.has(name)),
    schematicText: textOf(
      all.find((extension) => textOf(extension, "name") === "schematic"),
      "extraInfo",
    ),
  };
}

/** Parts of an image that Talos lists among its extensions. */
const notExtensions = new Set(["schematic", "modules.dep"]);

/** From the machine's status; empty if it has none yet. */
export function stageOf(spec: unknown): string {
  return textOf(spec, "stage");
}

/** The running config, as it was sent. */
export async function runningConfig(client: NodeClient, options?: CallOptions): Promise<string | undefined> {
  return configText((await client.get(machineConfigs, runningId, options))?.spec);
}

export async function persistentConfig(client: NodeClient, options?: CallOptions): Promise<string | undefined> {
  return configText((await client.get(machineConfigs, persistentId, options))?.spec);
}

export function configText(spec: unknown): string | undefined {
  return typeof spec === "string" ? spec : undefined;
}

/** The disks as text, for a user who has to choose one; empty if the node does not list them. */
export async function describeDisks(client: NodeClient): Promise<readonly string[] | undefined> {
  const disks = await client.list(resources.disks).catch(() => undefined);
  return disks && machineDisks(disks.map(({ spec }) => spec as Disk)).map(describeDisk);
}

/** etcd's service as a resource: whether it runs and passes its health check. */
export function isEtcdHealthy(spec: unknown): boolean {
  return fieldOf(spec, "running") === true && fieldOf(spec, "healthy") === true;
}

/** Why the machine is not the expected one, as text. */
export async function identityFault(
  client: NodeClient,
  identity: MachineIdentity,
  options?: CallOptions,
): Promise<string | undefined> {
  if (identity.mac === undefined && identity.uuid === undefined) return undefined;
  const faults = identityFaults(identity, await readTraits(client, options));
  return faults.length === 0 ? undefined : faults.join("; ");
}
