// Existing machines: only what connects them to the cluster is created.
import * as pulumi from "@pulumi/pulumi";
import { FactorySchematic } from "../../components/images/factorySchematic.ts";
import { installerSchematic } from "../../components/images/nodeSchematic.ts";
import { isPlain } from "../../components/images/schematic.ts";
import { ExistingMachines } from "../../components/machines/existing/existingMachines.ts";
import { Release } from "../../components/machines/release.ts";
import { existingPatches } from "./existingNodes.ts";
import type { ExistingConfig } from "./existingRules.ts";
import type { CreateMachinesArgs, PlatformMachines, PlatformResources } from "./platformResources.ts";

export function existingResources(config: ExistingConfig): PlatformResources {
  return {
    createMachines: (args) => createMachines(config, args),
    // They are not found, but listed.
    adoptMachines: () => ({ platform: listed(config) }),
  };
}

function listed(config: ExistingConfig): PlatformMachines {
  const { clusterName, nodes } = config;
  const made = new ExistingMachines(clusterName, { nodes });
  const patches = nodes.map((node) => [node.name, pulumi.output(existingPatches(node))]);
  return { machines: made.machines, ready: [made], patches: Object.fromEntries(patches) };
}

function createMachines(config: ExistingConfig, { guard, credentials }: CreateMachinesArgs): PlatformMachines {
  const { clusterName, settings, timeouts } = config;
  const made = listed(config);
  // Decides what happens to them when the cluster is destroyed, which they outlive.
  new Release(clusterName, {
    machines: made.machines,
    credentials,
    reset: settings.resetOnDestroy,
    deadlineSeconds: timeouts.reset,
  });
  return { ...made, ready: [...made.ready, guard, ...registered(config)] };
}

/** The Image Factory must know a schematic before a node installs from it. The empty one it knows already. */
function registered(config: ExistingConfig): readonly pulumi.Resource[] {
  const { clusterName, image, talosVersion, timeouts } = config;
  const schematic = installerSchematic(config);
  if (isPlain(schematic)) return [];
  const args = { factory: image.factory, schematic, talosVersion, deadlineSeconds: timeouts.images };
  return [new FactorySchematic(clusterName, args)];
}
