import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

export interface KubernetesProviderArgs {
  /** The cluster's credentials. */
  readonly kubeconfig: pulumi.Input<string>;
  /**
   * Identifies this cluster, and is no secret. Resources in the cluster are recreated when it changes, and only then: a renewed kubeconfig or another
   * endpoint still means the same cluster.
   */
  readonly clusterIdentifier: pulumi.Input<string>;
}

/**
 * The provider of everything in the cluster. It must work without the cluster, because previews and refreshes do. How long its requests may take depends on the
 * command, so it is no input: scripts/stack/kubernetesTimeout.ts.
 */
export function kubernetesProvider(
  name: string,
  args: KubernetesProviderArgs,
  opts?: pulumi.ResourceOptions,
): kubernetes.Provider {
  return new kubernetes.Provider(
    name,
    {
      ...args,
      // Resources in an unreachable cluster are unknown and not gone: they stay in the state unchanged.
      skipUpdateUnreachable: true,
      deleteUnreachable: false,
      // A new token is written into its Secret; by default the Secret would be deleted first, under the pods that use it.
      enableSecretMutable: true,
    },
    opts,
  );
}
