import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { machineConfigurationArgs } from "./machineConfig.ts";
import type { MachineConfigInput, MachineNode } from "./machineInput.ts";

export interface NodeMachineConfigArgs {
  /** The cluster that the node is in. */
  readonly cluster: MachineConfigInput;
  readonly node: MachineNode;
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
      talos.machine.getConfigurationOutput(
        { ...machineConfigurationArgs(args.cluster, args.node), machineSecrets: args.machineSecrets },
        { parent: this },
      ).machineConfiguration,
    );
    this.registerOutputs({ machineConfiguration: this.machineConfiguration });
  }
}
