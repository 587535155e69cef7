import type { ConfigPatch } from "../../talos/config/machineInput.ts";

export interface ProxmoxPlace {
  /** Name of the Proxmox cluster. */
  readonly region: string;
  /** The Proxmox host that the VM runs on. */
  readonly host: string;
  readonly vmId: number;
}

/** The provider id in Kubernetes. The driver for volumes finds the VM by this, and not by its name. */
export function proxmoxProviderId({ region, vmId }: ProxmoxPlace): string {
  return `proxmox://${region}/${vmId}`;
}

/** Where a node is, as labels in Kubernetes, which nothing else sets on Proxmox. Volumes are on a host, and VMs on that host use them. */
export function proxmoxTopology(place: ProxmoxPlace): ConfigPatch {
  return {
    machine: {
      nodeLabels: {
        "topology.kubernetes.io/region": place.region,
        "topology.kubernetes.io/zone": place.host,
      },
      kubelet: { extraArgs: { "provider-id": proxmoxProviderId(place) } },
    },
  };
}
