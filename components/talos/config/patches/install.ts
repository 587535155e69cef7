import { installerImage } from "../../../images/installer.ts";
import { installerSchematic } from "../../../images/nodeSchematic.ts";
import { schematicId } from "../../../images/schematic.ts";
import { diskChoice } from "../installDisk.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isAtLeast } from "../versions.ts";

export function installPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  const { install, image, talosVersion } = input;
  if (install.grubUseUKICmdline === true && !isAtLeast(talosVersion, 12)) {
    throw new Error(
      `install.grubUseUKICmdline: Talos ${talosVersion} does not have it: leave it out, or use 1.12 or later`,
    );
  }
  return [
    {
      machine: {
        install: {
          ...disk(input, node),
          image: installerImage({
            factory: image.factory,
            platform: input.platform.talosPlatform(input.network.addressing),
            secureBoot: image.secureBoot,
            // Without META contents, which are for the first boot: an upgrade keeps the node's META.
            schematicId: schematicId(installerSchematic(input)),
            talosVersion,
          }),
          wipe: install.wipe,
          ...(install.extraKernelArgs.length > 0 && { extraKernelArgs: install.extraKernelArgs }),
          ...(install.grubUseUKICmdline !== undefined &&
            isAtLeast(talosVersion, 12) && { grubUseUKICmdline: install.grubUseUKICmdline }),
        },
      },
    },
  ];
}

function disk({ install }: MachineConfigInput, node: MachineNode): ConfigPatch {
  const choice = diskChoice(install, node.install);
  return choice.diskSelector === undefined
    ? { disk: choice.disk ?? "/dev/sda" }
    : // The generator names a disk; left beside the selector it would say what is not so.
      { disk: { $patch: "delete" }, diskSelector: choice.diskSelector };
}
