// Existing machines: only what connects them to the cluster is created.
import * as pulumi from "@pulumi/pulumi";
import { FactorySchematic } from "../../components/images/factorySchematic.ts";
import { installerSchematic } from "../../components/images/nodeSchematic.ts";
import { isPlain } from "../../components/images/schematic.ts";
import { ExistingMachines } from "../../components/machines/existing/existingMachines.ts";
import { Release } from "../../components/machines/release.ts";
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";
import type { ExistingConfig } from "./existingRules.ts";
import type { CreateMachinesArgs, PlatformMachines, PlatformResources } from "./platformResources.ts";

export function existingResources(config: ExistingConfig): PlatformResources {
  return { createMachines: (args) => createMachines(config, args) };
}

function createMachines(config: ExistingConfig, { guard, credentials }: CreateMachinesArgs): PlatformMachines {
  const { clusterName, nodes, settings, timeouts } = config;
  const made = new ExistingMachines(clusterName, { nodes });
  // Decides what happens to them when the cluster is destroyed, which they outlive.
  new Release(clusterName, {
    machines: made.machines,
    credentials,
    reset: settings.resetOnDestroy,
    deadlineSeconds: timeouts.reset,
  });
  return {
    machines: made.machines,
    ready: [made, guard, ...registered(config)],
    patches: Object.fromEntries(nodes.map((node) => [node.name, pulumi.output(patches(node))])),
  };
}

/** The Image Factory must know a schematic before a node installs from it. The empty one it knows already. */
function registered(config: ExistingConfig): readonly pulumi.Resource[] {
  const { clusterName, image, talosVersion, timeouts } = config;
  const schematic = installerSchematic(config);
  if (isPlain(schematic)) return [];
  const args = { factory: image.factory, schematic, talosVersion, deadlineSeconds: timeouts.images };
  return [new FactorySchematic(clusterName, args)];
}

/** An address by which the machine is reached from outside is on none of its interfaces, so only a patch adds it to its certificates. */
function patches({ role, reach, address }: ExistingConfig["nodes"][number]): readonly ConfigPatch[] {
  if (reach === undefined || reach === address) return [];
  const certSANs = [reach];
  return [{ machine: { certSANs } }, ...(role === "controlplane" ? [{ cluster: { apiServer: { certSANs } } }] : [])];
}
