// The variables of packer/hetzner-talos.pkr.hcl, as environment variables.
import type { ImageSettings } from "../model/settings/image.ts";
import { type Schematic, schematicId, schematicYaml } from "./schematic.ts";
import { snapshotLabels } from "./snapshotLabels.ts";

export interface PackerVariablesArgs {
  /** Full version of Talos on the snapshot, without `v`. */
  readonly talosVersion: string;
  /** The schematic of the snapshot. */
  readonly schematic: Schematic;
  /** The architecture of the servers. */
  readonly architecture: ImageSettings["architecture"];
  /** Host of the Image Factory. */
  readonly factory: string;
  /** Location of the server that the snapshot is taken from. */
  readonly location: string;
  /** Labels instead of those derived from version, schematic and architecture. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export function packerVariables(args: PackerVariablesArgs) {
  const { talosVersion, schematic, architecture, factory, location } = args;
  const id = schematicId(schematic);
  return {
    PKR_VAR_talos_version: talosVersion,
    PKR_VAR_schematic: schematicYaml(schematic),
    PKR_VAR_schematic_id: id,
    PKR_VAR_architecture: architecture,
    PKR_VAR_factory: factory,
    PKR_VAR_location: location,
    PKR_VAR_labels: JSON.stringify(args.labels ?? snapshotLabels({ ...args, schematicId: id })),
  };
}
