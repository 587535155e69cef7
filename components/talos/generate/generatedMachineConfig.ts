import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "../config/machineInput.ts";
import { machineConfigurationArgs } from "./machineConfig.ts";

export interface GeneratedMachineConfigArgs {
  /** The cluster that the node is in. */
  readonly cluster: Omit<MachineConfigInput, "contract">;
  /** What the config is written for. */
  readonly contract: pulumi.Input<string>;
  readonly node: Omit<MachineNode, "platformPatches">;
  /** Patches with values that the platform reports only once the machine exists. */
  readonly platformPatches?: pulumi.Input<readonly ConfigPatch[]> | undefined;
  /** The cluster's identity. */
  readonly machineSecrets: talos.machine.Secrets["machineSecrets"];
}

/** The machine config of one node, made by the official generator from our patches. */
export class GeneratedMachineConfig extends pulumi.ComponentResource {
  /** The complete config, all documents. Secret. */
  readonly machineConfiguration: pulumi.Output<string>;

  constructor(name: string, args: GeneratedMachineConfigArgs, opts?: pulumi.ComponentResourceOptions) {
    super(
      "sluice:talos:GeneratedMachineConfig",
      name,
      {},
      // Its type in a state that was not updated since. docs/decisions/provider-paths.md
      pulumi.mergeOptions(opts, { aliases: [{ type: "sluice:talos:NodeMachineConfig" }] }),
    );

    this.machineConfiguration = pulumi.secret(
      // Not getConfigurationOutput: its error is printed in full, with a stack and with what Talos quotes.
      pulumi.all([args.machineSecrets, args.platformPatches, args.contract]).apply(async (known) => {
        const [machineSecrets, platformPatches, contract] = known;
        const generatorArgs = machineConfigurationArgs(
          { ...args.cluster, contract },
          { ...args.node, platformPatches },
        );
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

/** The error of a call whose plugin was ended by the engine: because of Ctrl-C, or of another failure, which is reported by itself. */
const cutOff =
  /client connection is closing|transport is closing|context cancell?ed|\bCANCELLED\b|\bUNAVAILABLE\b|server: EOF/i;

/** One message for the user, without a stack. The generator quotes the patch that it refuses, so its words are hidden if any patch is secret. */
export function refusal({ cluster, node }: Pick<GeneratedMachineConfigArgs, "cluster" | "node">, error: unknown) {
  if (cutOff.test((error as Error).message)) {
    return new pulumi.RunError(`${node.name}: the run ended before the machine config was generated`);
  }
  const words =
    cluster.secretPatches.length > 0 || cluster.tailscaleAuthKey !== undefined
      ? "its words are not shown, because they may quote a secret"
      : (error as Error).message;
  return new pulumi.RunError(`${node.name}: Talos' generator refuses the machine config: ${words}`);
}
