import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";

export const cloudControllerManagerChart: Chart = {
  name: "hcloud-cloud-controller-manager",
  repository: "https://charts.hetzner.cloud",
  release: "hcloud-cloud-controller-manager",
  namespace: "kube-system",
};

export interface HcloudCloudControllerManagerArgs extends ChartArgs {
  /** The range of all pods. */
  readonly podCidr: string;
  /** The network zone for load balancers of Services. */
  readonly networkZone: string;
}

/**
 * Reports to Kubernetes which server each node is and where, and creates load balancers. Without it a node of an external cloud is never
 * initialized. It reads the token and the network from the Secret `hcloud`.
 */
export class HcloudCloudControllerManager extends pulumi.ComponentResource {
  constructor(name: string, args: HcloudCloudControllerManagerArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:HcloudCloudControllerManager", name, {}, opts);
    const values = {
      // The nodes use their addresses in the private network: without it those would not be known as the servers' addresses.
      networking: { enabled: true, clusterCIDR: args.podCidr },
      env: {
        // Cilium routes the traffic of pods between nodes.
        HCLOUD_NETWORK_ROUTES_ENABLED: { value: "false" },
        HCLOUD_LOAD_BALANCERS_NETWORK_ZONE: { value: args.networkZone },
        HCLOUD_LOAD_BALANCERS_USE_PRIVATE_IP: { value: "true" },
      },
    };
    chartRelease(`${name}-release`, cloudControllerManagerChart, { ...args, values }, { parent: this });
    this.registerOutputs();
  }
}
