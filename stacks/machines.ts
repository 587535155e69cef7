// The machines, whatever the platform, and before them the guard of etcd's quorum.
import type * as pulumi from "@pulumi/pulumi";
import { QuorumGuard } from "../components/machines/quorumGuard.ts";
import { backupBeforeChanges } from "./backups.ts";
import { hasVolumes } from "./platforms/platform.ts";
import type { PlatformMachines, PlatformResources } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import type { ClusterSecrets } from "./talosStages.ts";

/** The secrets are for the guard, which asks a running cluster whether its machines may change, and for the end of machines with the cluster. */
export function deployMachines(
  config: ClusterConfig,
  resources: PlatformResources,
  secrets: Pick<ClusterSecrets, "credentials" | "machineSecrets">,
): PlatformMachines {
  const { credentials } = secrets;
  const guard = guardQuorum(config, resources, secrets);
  return resources.createMachines({ guard, credentials, hasVolumes: hasVolumes(config) });
}

export function guardQuorum(
  config: ClusterConfig,
  { token }: Pick<PlatformResources, "token">,
  secrets: Pick<ClusterSecrets, "credentials" | "machineSecrets">,
): pulumi.Resource {
  const { credentials } = secrets;
  const backup = backupBeforeChanges(config, secrets);
  const { clusterName, platform, nodes, timeouts } = config;
  return new QuorumGuard(
    clusterName,
    {
      machines: Object.fromEntries(nodes.map((node) => [node.name, platform.machineEntry(node, config)])),
      place: platform.place(config),
      hasFixedAddresses: platform.hasFixedAddresses(config),
      ...(token !== undefined && { token: token.value }),
      credentials,
      ...(backup !== undefined && { backup }),
      deadlineSeconds: timeouts.quorum,
    },
    // A preview without a token keeps the token of the state.
    { ignoreChanges: token?.isPlaceholder ? ["token"] : [] },
  );
}
