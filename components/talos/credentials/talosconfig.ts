import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";

export interface TalosconfigArgs {
  /** Name of the cluster in the talosconfig. */
  readonly clusterName: string;
  /** The client certificate and key. */
  readonly clientConfiguration: talos.machine.Secrets["clientConfiguration"];
  /** The addresses that a Talos client connects to: those of control planes, never the VIP, which is down when the client is needed most. */
  readonly endpoints: readonly pulumi.Input<string>[];
  /** Addresses of all nodes, for control planes to reach them. */
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
    // If a later step of an update fails, there are no stack outputs, and then the talosconfig is needed most.
    this.registerOutputs({ talosconfig: this.talosconfig });
  }
}
