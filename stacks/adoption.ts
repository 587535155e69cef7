// Takes a running cluster into the state as it is: the program of `npm run adopt`. What it makes only reads, and the next `up` continues with the same
// resources. docs/decisions/adoption.md
import * as pulumi from "@pulumi/pulumi";
import { deployMachineConfigs } from "./machineConfigs.ts";
import { guardQuorum } from "./machines.ts";
import type { FoundMachines } from "./platforms/foundMachines.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import { installer } from "./softwareStages.ts";
import { applyMachineConfigs, bootstrapEtcd, createSecrets, issueKubeconfig, joinMembers } from "./talosStages.ts";

/** What `npm run adopt` has found, by a call of the program. It has no secrets. */
export interface FoundCluster {
  readonly machines: FoundMachines;
  /** The components whose parts exist. */
  readonly components: readonly FoundComponent[];
}

export interface FoundComponent {
  readonly type: string;
  readonly name: string;
  /** Who creates its parts. */
  readonly of: "platform" | "cluster";
}

/** Names the found cluster, as JSON, for the program. */
export const adoptionVariable = "SLUICE_ADOPTION";

export async function adoptCluster(config: ClusterConfig, found: FoundCluster): Promise<void> {
  const resources = await config.platform.resources(config);
  if (resources.adoptMachines === undefined) throw new Error(`${config.platform.name} adopts no machines`); // the command has checked it
  const secrets = await createSecrets(config);
  guardQuorum(config, resources, secrets);
  const { platform, provider } = resources.adoptMachines(found.machines);
  const configs = deployMachineConfigs(config, platform, secrets);
  const nodes = { isInMaintenance: async () => false, run: "", adopts: true } as const;
  const applied = applyMachineConfigs(config, platform, configs, secrets, nodes, []);
  const bootstrap = bootstrapEtcd(config, platform, secrets, applied, [applied]);
  joinMembers(config, platform, secrets, [bootstrap]);

  const { cluster = [], platform: own = [] } = Object.groupBy(found.components, ({ of }) => of);
  makeComponents(own, provider === undefined ? {} : { provider });
  if (cluster.length === 0) return;
  const issued = issueKubeconfig(config, platform, secrets, [bootstrap]);
  const { clusterIdentifier } = secrets;
  const living = { config, clusterIdentifier, deletedWith: bootstrap };
  makeComponents(cluster, installer(living, issued.at(issued.ownUrl), [bootstrap]).behind([]));
}

/** Without their parts, which exist: those are added to the state. */
function makeComponents(components: readonly FoundComponent[], opts: pulumi.ComponentResourceOptions): void {
  for (const { type, name } of components) new pulumi.ComponentResource(type, name, {}, opts);
}
