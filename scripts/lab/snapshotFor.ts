// What servers of an environment start from: the lab's cloud has it from the beginning, as though Packer had been run before.
import { schematicId, schematicYaml } from "../../components/images/schematic.ts";
import { snapshotLabels } from "../../components/images/snapshotLabels.ts";
import type { ClusterConfig } from "../../stacks/schema.ts";
import type { LabSnapshot } from "./snapshots.ts";

/** The snapshot that an environment finds by its labels. */
export function snapshotFor({
  talosVersion,
  image,
  hetzner,
}: Pick<ClusterConfig, "talosVersion" | "image" | "hetzner">): LabSnapshot {
  const { architecture } = image;
  const schematic = schematicId(image);
  return {
    talos: talosVersion,
    schematic,
    customization: schematicYaml(image),
    arch: architecture,
    description: `Talos ${talosVersion} ${architecture} ${schematic.slice(0, 8)}`,
    labels: hetzner?.snapshot.labels ?? snapshotLabels({ talosVersion, schematicId: schematic, architecture }),
  };
}
