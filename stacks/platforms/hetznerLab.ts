// The snapshot that servers of an environment start from: the lab's cloud has it from the start, as if Packer had run.
import { schematicId, schematicYaml } from "../../components/images/schematic.ts";
import { snapshotLabels } from "../../components/images/snapshotLabels.ts";
import type { HetznerConfig } from "./hetznerRules.ts";
import type { LabSnapshot } from "./labNeeds.ts";

/** The snapshot that matches an environment's labels. */
export function snapshotFor({
  talosVersion,
  image,
  settings,
}: Pick<HetznerConfig, "talosVersion" | "image" | "settings">): LabSnapshot {
  const { architecture } = image;
  const schematic = schematicId(image);
  return {
    talos: talosVersion,
    schematic,
    customization: schematicYaml(image),
    arch: architecture,
    description: `Talos ${talosVersion} ${architecture} ${schematic.slice(0, 8)}`,
    labels: settings.snapshot.labels ?? snapshotLabels({ talosVersion, schematicId: schematic, architecture }),
  };
}
