import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { ServicesSettings } from "../model/settings/platform.ts";
import { addressSpan } from "../network/addressSpan.ts";
import type { Values } from "./mergeValues.ts";

export interface ServiceAddressesArgs extends Pick<ServicesSettings, "addresses" | "interfaces"> {
  /** Whether Cilium answers for them, rather than kube-vip. */
  readonly announces: boolean;
}

/**
 * Addresses for Services of type LoadBalancer: Cilium assigns them, and if it announces, for each Service one node answers for its
 * address in the node network. The kinds are known to the cluster once Cilium's operator runs.
 */
export class ServiceAddresses extends pulumi.ComponentResource {
  constructor(name: string, args: ServiceAddressesArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:ServiceAddresses", name, {}, opts);
    const { addresses, interfaces, announces } = args;
    new kubernetes.apiextensions.CustomResource(
      `${name}-pool`,
      {
        apiVersion: "cilium.io/v2",
        kind: "CiliumLoadBalancerIPPool",
        metadata: { name: "node-network" },
        spec: {
          blocks: addresses.map((text) => {
            const { first, last } = addressSpan(text);
            return { start: first, stop: last };
          }),
        },
      },
      { parent: this },
    );
    if (announces) {
      new kubernetes.apiextensions.CustomResource(
        `${name}-announcement`,
        {
          apiVersion: "cilium.io/v2alpha1",
          kind: "CiliumL2AnnouncementPolicy",
          metadata: { name: "node-network" },
          spec: { loadBalancerIPs: true, interfaces: interfaces.length > 0 ? [...interfaces] : undefined },
        },
        { parent: this },
      );
    }
    this.registerOutputs();
  }
}

/** The values that Cilium needs for it. */
export const announcingValues: Values = {
  l2announcements: { enabled: true },
  // Every node renews a lease every five seconds for each Service that it answers for, which soon exceeds Cilium's own limit of ten calls per second.
  k8sClientRateLimit: { qps: 50, burst: 100 },
};
