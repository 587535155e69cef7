// The machine config of each node, and the talosconfig.
import * as pulumi from "@pulumi/pulumi";
import { format } from "../components/errors/format.ts";
import { SluiceError } from "../components/errors/sluiceError.ts";
import { contractFaults, firstContract } from "../components/talos/config/versions.ts";
import { Talosconfig } from "../components/talos/credentials/talosconfig.ts";
import { ConfigContract } from "../components/talos/generate/configContract.ts";
import { GeneratedMachineConfig } from "../components/talos/generate/generatedMachineConfig.ts";
import { machineConfigInput, machineNodes } from "./machineConfigInput.ts";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import type { ClusterSecrets } from "./talosStages.ts";

export interface MachineConfigs {
  /** The complete config of each node, by node name. Secret. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Output<string>>>;
  /** What they are written for. */
  readonly contract: pulumi.Output<string>;
  /** For `talosctl`. Secret. */
  readonly talosconfig: pulumi.Output<string>;
}

export function deployMachineConfigs(
  config: ClusterConfig,
  platform: PlatformMachines,
  secrets: ClusterSecrets,
): MachineConfigs {
  const { clusterName } = config;
  const cluster = machineConfigInput(config);
  const contract = recordContract(config, secrets);
  const nodes = machineNodes(config);
  const reach = new Map(platform.machines.map((machine) => [machine.name, machine.talosAddress]));
  const machineConfigurations = Object.fromEntries(
    nodes.map((node) => {
      const made = new GeneratedMachineConfig(`${clusterName}-${node.name}`, {
        cluster,
        contract,
        node,
        machineSecrets: secrets.machineSecrets,
        platformPatches: platform.patches[node.name],
      });
      return [node.name, made.machineConfiguration];
    }),
  );
  const { talosconfig } = new Talosconfig(clusterName, {
    clusterName,
    clientConfiguration: secrets.clientConfiguration,
    endpoints: nodes
      .filter(({ role }) => role === "controlplane")
      .map(({ name, address }) => reach.get(name) ?? address),
    // A control plane forwards calls to other nodes, and the firewall lets it reach them only by their own addresses.
    nodes: nodes.map(({ address }) => address),
  });
  return { machineConfigurations, contract, talosconfig };
}

/** The contract that the environment asks for; else the one that the state has. A new talosVersion alone does not change it. */
function recordContract(config: ClusterConfig, { madeWith }: Pick<ClusterSecrets, "madeWith">): pulumi.Output<string> {
  const { clusterName, talosVersion, configContract } = config;
  const first = pulumi.output(madeWith).apply((secrets) => configContract ?? firstContract(secrets, talosVersion));
  const { contract } = new ConfigContract(clusterName, { contract: first }, { isAsked: configContract !== undefined });
  return contract.apply((known) => {
    const [fault] = contractFaults(known, talosVersion);
    if (fault === undefined) return known;
    const what = "machine configs that this Talos can read";
    throw new pulumi.RunError(format(new SluiceError({ code: "SLU-T240", what, seen: fault.message })));
  });
}
