// VMs on Proxmox. docs/proxmox.md
import { isIPv4 } from "node:net";
import { proxmoxProxied } from "../../components/api/proxmoxApi.ts";
import { fixedShape } from "../../components/machines/proxmox/fixedShape.ts";
import { type ProxmoxPlace, proxmoxPlatform } from "../../components/machines/proxmox/proxmoxPlatform.ts";
import { proxmoxNode, proxmox as section } from "../../components/model/settings/proxmox.ts";
import { proxmoxCsiChart, proxmoxStorageClass } from "../../components/platform/proxmoxCsiChart.ts";
import type { Platform } from "./platform.ts";
import { labEndpoint, proxmoxFor } from "./proxmoxLab.ts";
import { type ProxmoxConfig, proxmoxRules } from "./proxmoxRules.ts";

export const proxmox = {
  ...proxmoxPlatform,
  title: "Proxmox",
  section,
  nodeKeys: proxmoxNode,
  refusedNodeKeys: { uuid: "Proxmox generates the UUID of each VM that it creates: remove it" },
  fixedKeys: Object.fromEntries(Object.entries(fixedShape).map(([key, fixed]) => [`proxmox.vm.${key}`, fixed])),
  rules: proxmoxRules,
  sharedAddressKey: "network.vip",
  takenAddresses({ endpoint }) {
    const value = new URL(endpoint).hostname;
    return isIPv4(value) ? [{ path: "proxmox.endpoint", value, title: "the Proxmox API" }] : [];
  },
  hasCloudController: () => false,
  volumes: {
    chart: proxmoxCsiChart,
    version: "0.5.6",
    driver: "csi.proxmox.sinextra.dev",
    controller: "proxmox-csi-plugin-controller",
    nodePlugin: "proxmox-csi-plugin-node",
    probe: { storageClass: proxmoxStorageClass, size: "1Gi" },
  },
  machineEntry: ({ role, address, vmId }) => ({ role, address, vmId }),
  place: ({ clusterName, settings: { endpoint: apiUrl, insecure } }) =>
    ({
      kind: "proxmox",
      cluster: clusterName,
      apiUrl,
      insecure,
    }) satisfies ProxmoxPlace,
  hasFixedAddresses: ({ network }) => network.addressing !== "dhcp",
  askApi: async (config, access) => (await import("./proxmoxCheck.ts")).proxmoxCheck(config, access),
  account: {
    provider: "proxmoxve",
    variables: "PROXMOX_",
    token: { key: "proxmoxve:apiToken", variable: "PROXMOX_VE_API_TOKEN" },
    proxied: proxmoxProxied,
  },
  recreatedTypes: ["proxmoxve:index/vmLegacy:VmLegacy"],
  lab: {
    needs: (config) => ({ proxmox: proxmoxFor(config) }),
    // The lab's Proxmox has a self-signed certificate.
    adapt: (settings) => ({ ...settings, endpoint: labEndpoint(settings.endpoint), insecure: true }),
  },
  resources: async (config) => (await import("./proxmoxResources.ts")).proxmoxResources(config),
} as const satisfies Platform<ProxmoxConfig>;
