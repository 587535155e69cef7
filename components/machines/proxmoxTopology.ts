import type { ConfigPatch } from "../talos/machineInput.ts";

export interface ProxmoxPlace {
  /** Name for the Proxmox cluster. */
  readonly region: string;
  /** The Proxmox host that carries the VM. */
  readonly host: string;
  readonly vmId: number;
}

/** What Kubernetes calls the VM. The driver for volumes finds it by this, and not by its name. */
export function proxmoxProviderId({ region, vmId }: ProxmoxPlace): string {
  return `proxmox://${region}/${vmId}`;
}

/** What tells Kubernetes where a node is, which on Proxmox nobody else does. Volumes lie on a host, and are used by the VMs on it. */
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
