import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

export interface KubernetesProviderArgs {
  /** What opens the cluster. */
  readonly kubeconfig: pulumi.Input<string>;
  /**
   * Tells this cluster from any other, and is no secret. What is in a cluster is made anew when it changes, and only then: a renewed kubeconfig
   * or another endpoint opens the same cluster.
   */
  readonly clusterIdentifier: pulumi.Input<string>;
}

/** Seconds that a request to the API may take. A refresh of a cluster that is gone takes four of them, one after the other. */
const requestTimeout = 2;

/** The provider of all that is in the cluster. It must not depend on the cluster being there: previews and refreshes are run without. */
export function kubernetesProvider(
  name: string,
  args: KubernetesProviderArgs,
  opts?: pulumi.ResourceOptions,
): kubernetes.Provider {
  return new kubernetes.Provider(
    name,
    {
      ...args,
      // What a cluster that does not answer holds is unknown and not gone: it stays in the state as it was.
      skipUpdateUnreachable: true,
      deleteUnreachable: false,
      // A new token is written into its Secret; by default the Secret would be deleted first, under the pods that use it.
      enableSecretMutable: true,
      kubeClientSettings: { timeout: requestTimeout },
    },
    opts,
  );
}
