import type { ResourceType } from "./talosClient.ts";

/** The types of resources that are read, the same from Talos 1.11 to 1.13. All but the machine config are served in maintenance. */
export const resources = {
  version: { namespace: "runtime", type: "Versions.runtime.talos.dev" },
  machineStatus: { namespace: "runtime", type: "MachineStatuses.runtime.talos.dev" },
  services: { namespace: "runtime", type: "Services.v1alpha1.talos.dev" },
  etcdSpec: { namespace: "etcd", type: "EtcdSpecs.etcd.talos.dev" },
  disks: { namespace: "runtime", type: "Disks.block.talos.dev" },
  links: { namespace: "network", type: "LinkStatuses.net.talos.dev" },
  hostname: { namespace: "network", type: "HostnameStatuses.net.talos.dev" },
  addresses: { namespace: "network", type: "AddressStatuses.net.talos.dev" },
  systemInformation: { namespace: "hardware", type: "SystemInformations.hardware.talos.dev" },
  machineConfig: { namespace: "config", type: "MachineConfigs.config.talos.dev" },
} as const satisfies Readonly<Record<string, ResourceType>>;
