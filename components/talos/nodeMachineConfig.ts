import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { machineConfigurationArgs } from "./machineConfig.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "./machineInput.ts";

export interface NodeMachineConfigArgs {
  /** The cluster that the node is in. */
  readonly cluster: MachineConfigInput;
  readonly node: Omit<MachineNode, "platformPatches">;
  /** What its platform tells only when the machine is there. */
  readonly platformPatches?: pulumi.Input<readonly ConfigPatch[]> | undefined;
  /** The cluster's identity. */
  readonly machineSecrets: talos.machine.Secrets["machineSecrets"];
}

/** The machine config of one node, made by the official generator and our patches. */
export class NodeMachineConfig extends pulumi.ComponentResource {
  /** The whole config, all documents. Secret. */
  readonly machineConfiguration: pulumi.Output<string>;

  constructor(name: string, args: NodeMachineConfigArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:NodeMachineConfig", name, {}, opts);

    this.machineConfiguration = pulumi.secret(
      // Not getConfigurationOutput: what it rejects with is printed whole, with a stack and with what Talos quotes.
      pulumi.all([args.machineSecrets, args.platformPatches]).apply(async ([machineSecrets, platformPatches]) => {
        const generatorArgs = machineConfigurationArgs(args.cluster, { ...args.node, platformPatches });
        try {
          const made = await talos.machine.getConfiguration({ ...generatorArgs, machineSecrets }, { parent: this });
          return made.machineConfiguration;
        } catch (error) {
          throw refusal(args, error);
        }
      }),
    );
    this.registerOutputs({ machineConfiguration: this.machineConfiguration });
  }
}

/** One message for the person, without a stack. The generator quotes the patch that it refuses, so a secret one silences it. */
export function refusal({ cluster, node }: Pick<NodeMachineConfigArgs, "cluster" | "node">, error: unknown) {
  const words =
    cluster.secretPatches.length > 0 || cluster.tailscaleAuthKey !== undefined
      ? "its words are not shown, for they may quote a secret"
      : (error as Error).message;
  return new pulumi.RunError(`${node.name}: Talos' generator refuses the machine config: ${words}`);
}
