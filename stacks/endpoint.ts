// The address by which clients reach the Kubernetes API. The first stages use the first control plane's own address.
import * as pulumi from "@pulumi/pulumi";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

/**
 * The host by which clients reach the Kubernetes API: the configured endpoint, else the VIP, else a load balancer with a public address, else the
 * first control plane by name.
 */
export function clientEndpoint(
  { endpoint, network }: ClusterConfig,
  { machines, publicAddress }: Pick<PlatformMachines, "machines" | "publicAddress">,
): pulumi.Output<string> {
  const shared = endpoint ?? network.vip;
  if (shared !== undefined) return pulumi.output(shared);
  const own = publicAddress ?? machines.find(({ role }) => role === "controlplane")?.talosAddress;
  if (own === undefined) throw new Error("there is no control plane"); // a rule has checked it
  return own;
}

export function kubernetesUrl(host: pulumi.Input<string>): pulumi.Output<string> {
  return pulumi.interpolate`https://${host}:6443`;
}
