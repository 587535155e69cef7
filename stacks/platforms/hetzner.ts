// Servers of the Hetzner Cloud. docs/hetzner.md
import { hetznerProxied } from "../../components/api/hetznerApi.ts";
import { type HetznerPlace, hetznerPlatform } from "../../components/machines/hetzner/hetznerPlatform.ts";
import { serverOf } from "../../components/machines/hetzner/serverOf.ts";
import { hetznerNode, hetzner as section } from "../../components/model/settings/hetzner.ts";
import { hcloudCsiChart } from "../../components/platform/hcloudCsiChart.ts";
import { labOperator } from "../base/labName.ts";
import { hetznerAdoption } from "./hetznerAdoption.ts";
import { hetznerWarnings } from "./hetznerCatalogue.ts";
import { snapshotFor } from "./hetznerLab.ts";
import { type HetznerConfig, hetznerRules } from "./hetznerRules.ts";
import type { Platform } from "./platform.ts";

export const hetzner = {
  ...hetznerPlatform,
  title: "Hetzner",
  section,
  nodeKeys: hetznerNode,
  refusedNodeKeys: { mac: "Hetzner assigns the MACs of its servers: remove it" },
  rules: hetznerRules,
  warnings: hetznerWarnings,
  sharedAddressKey: "hetzner.loadBalancer.address",
  loadBalancer({ loadBalancer }) {
    if (loadBalancer === undefined) return undefined;
    return { path: "hetzner.loadBalancer.address", value: loadBalancer.address, title: "the load balancer" };
  },
  ranges: ({ networkCidr, allowedCidrs }) => [
    ...(networkCidr === undefined ? [] : [{ path: "hetzner.networkCidr", value: networkCidr, title: "the network" }]),
    ...allowedCidrs.map((value, index) => ({ path: `hetzner.allowedCidrs[${index}]`, value, title: "who is allowed" })),
  ],
  networkRange({ networkCidr }) {
    if (networkCidr === undefined) return undefined;
    return { path: "hetzner.networkCidr", value: networkCidr, title: "the network" };
  },
  hasCloudController: ({ cloudControllerManager }) => cloudControllerManager.enabled,
  volumes: {
    chart: hcloudCsiChart,
    version: "2.19.0",
    driver: "csi.hetzner.cloud",
    controller: "hcloud-csi-controller",
    nodePlugin: "hcloud-csi-node",
    probe: { storageClass: "hcloud-volumes", size: "10Gi" },
  },
  machineEntry: (node, { settings }) => ({ role: node.role, address: node.address, ...serverOf(node, settings) }),
  place: ({ clusterName }) => ({ kind: "hetzner", cluster: clusterName }) satisfies HetznerPlace,
  // A server's private address belongs to the network and not to the server.
  hasFixedAddresses: () => false,
  askApi: async (config, access) => (await import("./hetznerCheck.ts")).hetznerCheck(config, access),
  account: {
    provider: "hcloud",
    variables: "HCLOUD_",
    token: { key: "hcloud:token", variable: "HCLOUD_TOKEN" },
    proxied: hetznerProxied,
  },
  recreatedTypes: ["hcloud:index/networkSubnet:NetworkSubnet", "hcloud:index/server:Server"],
  lab: {
    needs: (config) => ({ snapshots: [snapshotFor(config)] }),
    adapt({ cloudControllerManager, ...settings }, { hasLabCharts }) {
      const allowed = Array.isArray(settings.allowedCidrs) ? settings.allowedCidrs : [];
      const { version, ...controller } = { version: undefined, ...Object(cloudControllerManager) };
      return {
        ...settings,
        // A lab has one version of each chart.
        ...(cloudControllerManager !== undefined && {
          cloudControllerManager: hasLabCharts ? controller : cloudControllerManager,
        }),
        allowedCidrs: [...allowed, labOperator],
      };
    },
  },
  adoption: hetznerAdoption,
  resources: async (config) => (await import("./hetznerResources.ts")).hetznerResources(config),
} as const satisfies Platform<HetznerConfig>;
