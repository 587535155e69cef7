import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

export interface HcloudSecretArgs {
  /** Token of the Hetzner Cloud project that the servers are in. */
  readonly token: pulumi.Input<string>;
  /** Name or id of the private network that the nodes are in. */
  readonly network: pulumi.Input<string>;
  /** Whether the token in the state stays, because the given one is a placeholder. Default false. */
  readonly keepToken?: boolean | undefined;
}

/** The cloud credentials of Hetzner's programs in the cluster. Both charts expect this name. */
export class HcloudSecret extends pulumi.ComponentResource {
  constructor(name: string, args: HcloudSecretArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:HcloudSecret", name, {}, opts);
    new kubernetes.core.v1.Secret(
      `${name}-secret`,
      {
        metadata: { name: "hcloud", namespace: "kube-system" },
        stringData: { token: pulumi.secret(args.token), network: args.network },
      },
      // A preview works without the account: it must not show a new token because of that.
      { parent: this, ignoreChanges: args.keepToken === true ? ["stringData"] : [] },
    );
    this.registerOutputs();
  }
}
