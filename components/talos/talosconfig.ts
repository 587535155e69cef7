import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";

export interface TalosconfigArgs {
  /** Name of the cluster, as the talosconfig calls it. */
  readonly clusterName: string;
  /** The client's certificate and key. */
  readonly clientConfiguration: talos.machine.Secrets["clientConfiguration"];
  /** Where a Talos client connects to: control planes as they are reached, never the VIP, which is gone when it is needed most. */
  readonly endpoints: readonly pulumi.Input<string>[];
  /** Addresses of all nodes, as control planes reach them. */
  readonly nodes: readonly string[];
}

/** What `talosctl` needs. */
export class Talosconfig extends pulumi.ComponentResource {
  /** Secret. */
  readonly talosconfig: pulumi.Output<string>;

  constructor(name: string, args: TalosconfigArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:Talosconfig", name, {}, opts);
    const { clusterName, clientConfiguration, endpoints, nodes } = args;
    this.talosconfig = pulumi.secret(
      talos.client.getConfigurationOutput(
        { clusterName, clientConfiguration, endpoints: [...endpoints], nodes: [...nodes] },
        { parent: this },
      ).talosConfig,
    );
    // An update that fails later has no outputs of the stack, and then it is wanted most.
    this.registerOutputs({ talosconfig: this.talosconfig });
  }
}
