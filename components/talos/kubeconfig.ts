import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { withServer } from "./withServer.ts";

export interface KubeconfigArgs {
  /** Where a control plane is reached from here; Talos on it makes the client's certificate. */
  readonly controlPlane: pulumi.Input<string>;
  readonly clientConfiguration: pulumi.Input<talos.types.input.cluster.KubeconfigClientConfiguration>;
  /** Days before its end that its client's certificate is made anew, by an update. */
  readonly renewDays: number;
  /** Seconds in which Talos must hand it out. */
  readonly deadline: number;
}

/** What kubectl needs. */
export class Kubeconfig extends pulumi.ComponentResource {
  private readonly raw: pulumi.Output<string>;

  constructor(name: string, args: KubeconfigArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:Kubeconfig", name, {}, opts);
    const { controlPlane, clientConfiguration, renewDays, deadline } = args;
    const limit = duration(deadline);

    const made = new talos.cluster.Kubeconfig(
      name,
      // Left alone it repeats every error for ten minutes without a word; behind the bootstrap the first call is answered.
      {
        node: controlPlane,
        clientConfiguration,
        certificateRenewalDuration: `${renewDays * 24}h`,
        timeouts: { create: limit, update: limit },
      },
      {
        parent: this,
        additionalSecretOutputs: ["kubeconfigRaw", "kubernetesClientConfiguration", "clientConfiguration"],
      },
    );

    this.raw = pulumi.secret(made.kubeconfigRaw);
    this.registerOutputs({});
  }

  /** With that server as the Kubernetes API: `https://host:6443`. Secret, and not known before all that it is to be behind is made. */
  at(server: pulumi.Input<string>, behind: readonly pulumi.Resource[] = []): pulumi.Output<string> {
    const made = behind.map(({ urn }) => urn);
    return pulumi.secret(pulumi.all([this.raw, server, made]).apply(([raw, url]) => withServer(raw, url)));
  }
}

/** As the plugin's own words have it: what means the same is to be no change. */
function duration(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
