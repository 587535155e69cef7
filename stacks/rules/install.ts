import { isAtLeast, isContractAtLeast, newContract } from "../../components/talos/config/versions.ts";
import type { Fault } from "../base/fault.ts";
import { rule } from "./rule.ts";

/** There is one way to choose the disk: with both, Talos would silently use the selector. */
export const installDisk = rule(["install", "nodes"], function* ({ install, nodes }) {
  const entries = [
    { path: "install", entry: install },
    ...nodes.map((node, index) => ({ path: `nodes[${index}].install`, entry: node.install })),
  ];
  for (const { path, entry } of entries) {
    if (entry?.disk !== undefined && entry.diskSelector !== undefined) {
      yield {
        path,
        message: `has disk '${entry.disk}' and diskSelector: keep one, the selector where device names may change`,
      };
    }
  }
});

/** S2.3: Talos refuses the two together, but only on the node, during the installation. */
export const kernelArguments = rule(
  ["install", "image", "talosVersion", "configContract"],
  function* (config): Iterable<Fault> {
    const { install, talosVersion, configContract } = config;
    // That of a deployed cluster may be older, which only its state knows.
    const byDefault = isContractAtLeast(newContract(config), 12);
    if (install.grubUseUKICmdline === true && !isAtLeast(talosVersion, 12)) {
      yield {
        path: "install.grubUseUKICmdline",
        message: `Talos ${talosVersion} does not know it: remove it, or use Talos 1.12 or later`,
      };
    }
    if (install.extraKernelArgs.length === 0) return;
    const remedy = `move them to image.kernelArgs: ${install.extraKernelArgs.join(" ")}`;
    if (install.grubUseUKICmdline ?? byDefault) {
      const state = install.grubUseUKICmdline === undefined ? "on, the default from Talos 1.12" : "on";
      const mayBeOlder = install.grubUseUKICmdline === undefined && configContract === undefined;
      const older = mayBeOlder ? ", or, for a cluster that was created with Talos 1.11, set configContract: v1.11" : "";
      yield {
        path: "install.extraKernelArgs",
        message: `Talos refuses them while install.grubUseUKICmdline is ${state}: ${remedy}${older}`,
      };
    } else if (config.image.secureBoot) {
      yield {
        path: "install.extraKernelArgs",
        message: `with image.secureBoot the command line is part of the signed image and they have no effect: ${remedy}`,
      };
    }
  },
);
