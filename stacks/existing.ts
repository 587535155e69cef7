// Machines that are already there, bare metal or made by others: the only place that knows of them.
import * as pulumi from "@pulumi/pulumi";
import { ExistingMachines } from "../components/machines/existingMachines.ts";
import { MachineChanges } from "../components/machines/machineChanges.ts";
import { Release } from "../components/machines/release.ts";
import { controlPlaneEndpoint } from "../components/network/endpoint.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import type { ConfigPatch } from "../components/talos/machineInput.ts";
import type { PlatformMachines } from "./machines.ts";
import type { ClusterConfig } from "./schema.ts";

export function deployExisting(config: ClusterConfig, credentials: pulumi.Output<TalosCredentials>): PlatformMachines {
  const { clusterName, nodes, existing, timeouts } = config;
  const made = new ExistingMachines(clusterName, { nodes });
  const changes = new MachineChanges(clusterName, {
    machines: Object.fromEntries(
      nodes.map(({ name, role, address, reach, uuid, mac }) => [
        name,
        { role, address, ...(reach !== undefined && { reach }), identity: uuid ?? mac ?? "" },
      ]),
    ),
    place: { kind: "existing" },
    // Who set them up says how they get their addresses.
    hasFixedAddresses: false,
    credentials,
    deadline: timeouts.preflight,
  });
  // Says what becomes of them when the cluster goes, which they outlive.
  new Release(clusterName, {
    machines: made.machines,
    credentials,
    reset: existing?.resetOnDestroy ?? false,
    deadline: timeouts.stages,
  });
  return {
    machines: made.machines,
    ready: [made, changes],
    endpoint: pulumi.output(endpoint(config)),
    patches: Object.fromEntries(nodes.map((node) => [node.name, pulumi.output(patches(node))])),
  };
}

/** A control plane that stands for all alone, as there is no other, is reached from here as the list says. */
function endpoint(config: ClusterConfig): string {
  const { nodes, network, endpoint: named } = config;
  const own = nodes.find(({ role }) => role === "controlplane")?.reach;
  return named === undefined && network.vip === undefined && own !== undefined ? own : controlPlaneEndpoint(config);
}

/** What leads to the machine from outside stands on none of its interfaces, so only a patch brings it into its certificates. */
function patches({ role, reach, address }: ClusterConfig["nodes"][number]): readonly ConfigPatch[] {
  if (reach === undefined || reach === address) return [];
  const certSANs = [reach];
  return [{ machine: { certSANs } }, ...(role === "controlplane" ? [{ cluster: { apiServer: { certSANs } } }] : [])];
}
