// What packer/hetzner-talos.pkr.hcl is told, as Packer reads it from its environment.
import { type Schematic, schematicId, schematicYaml } from "./schematic.ts";
import { snapshotLabels } from "./snapshotLabels.ts";

export interface PackerVariablesArgs {
  /** Talos on the snapshot, in full and without `v`. */
  readonly talosVersion: string;
  /** What the snapshot is made from. */
  readonly schematic: Schematic;
  /** Of the servers. */
  readonly architecture: "amd64" | "arm64";
  /** Host of the Image Factory. */
  readonly factory: string;
  /** Where the server is made that the snapshot is of. */
  readonly location: string;
  /** In place of the labels that follow from version, schematic and architecture. */
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
