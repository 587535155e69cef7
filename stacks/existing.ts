// Machines that are already there, bare metal or made by others: the only place that knows of them.
import * as pulumi from "@pulumi/pulumi";
import { ExistingMachines } from "../components/machines/existingMachines.ts";
import { Release } from "../components/machines/release.ts";
import { controlPlaneEndpoint } from "../components/network/endpoint.ts";
import type { ConfigPatch } from "../components/talos/machineInput.ts";
import type { PlatformMachines } from "./machines.ts";
import type { ClusterConfig } from "./schema.ts";

export function deployExisting(config: ClusterConfig): PlatformMachines {
  const { clusterName, nodes, existing, timeouts } = config;
  const made = new ExistingMachines(clusterName, { nodes });
  return {
    machines: made.machines,
    ready: [made],
    endpoint: pulumi.output(endpoint(config)),
    patches: Object.fromEntries(nodes.map((node) => [node.name, pulumi.output(patches(node))])),
    release: (credentials) =>
      new Release(clusterName, {
        machines: made.machines,
        credentials,
        reset: existing?.resetOnDestroy ?? false,
        deadline: timeouts.stages,
      }),
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
