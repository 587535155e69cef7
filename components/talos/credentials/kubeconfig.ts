import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { withServer } from "./withServer.ts";

export interface KubeconfigArgs {
  /** A control plane's Talos API; Talos there issues the client certificate. */
  readonly controlPlane: pulumi.Input<string>;
  readonly clientConfiguration: pulumi.Input<talos.types.input.cluster.KubeconfigClientConfiguration>;
  /** Days before its expiry that an update renews the client certificate. */
  readonly renewDays: number;
  /** Seconds in which Talos must have issued it. */
  readonly deadlineSeconds: number;
}

/** What kubectl needs. */
export class Kubeconfig extends pulumi.ComponentResource {
  private readonly raw: pulumi.Output<string>;

  constructor(name: string, args: KubeconfigArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:Kubeconfig", name, {}, opts);
    const { controlPlane, clientConfiguration, renewDays, deadlineSeconds } = args;
    const limit = duration(deadlineSeconds);

    const made = new talos.cluster.Kubeconfig(
      name,
      // By default the provider silently retries every error for ten minutes; after the bootstrap the first call is answered.
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

  /** The kubeconfig with that server as the Kubernetes API: `https://host:6443`. Secret, and unknown until everything that it depends on exists. */
  at(server: pulumi.Input<string>, behind: readonly pulumi.Resource[] = []): pulumi.Output<string> {
    const made = behind.map(({ urn }) => urn);
    return pulumi.secret(pulumi.all([this.raw, server, made]).apply(([raw, url]) => withServer(raw, url)));
  }
}

/** In the plugin's own notation, so that an equal value is no change. */
function duration(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
