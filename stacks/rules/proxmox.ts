import type { ClusterConfig } from "../schema.ts";
import { rule } from "./rule.ts";

type Vm = NonNullable<ClusterConfig["proxmox"]>["vm"];

/** S2.5: the one shape of a VM that Talos is known to run in, and why. */
const shape: { readonly [Key in keyof Vm]?: { readonly value: Vm[Key]; readonly why: string } } = {
  machine: { value: "q35", why: "OVMF and PCIe devices want its chipset" },
  bios: { value: "ovmf", why: "Talos starts by UEFI, and Secure Boot knows no other way" },
  efiDisk: { value: true, why: "without it OVMF forgets its boot entries when the VM stops" },
  scsiHardware: { value: "virtio-scsi-single", why: "it gives every disk a controller and an I/O thread of its own" },
  networkModel: { value: "virtio", why: "an emulated card costs a core for the same traffic" },
  balloon: { value: 0, why: "Talos does not support ballooning, and the kubelet counts on the memory it saw at start" },
  onBoot: { value: true, why: "the nodes must come back by themselves after the host restarts" },
};

export const vmShape = rule(["proxmox"], function* ({ proxmox }) {
  for (const [key, wanted] of Object.entries(shape)) {
    const got = proxmox?.vm[key as keyof Vm]; // keys of `shape` are keys of Vm by its type
    if (got !== undefined && got !== wanted.value) {
      yield { path: `proxmox.vm.${key}`, message: `is ${got}, must be ${wanted.value}: ${wanted.why}` };
    }
  }
});

/** S2.5: what the VM offers and what the image brings have to match. */
export const vmAndImage = rule(["proxmox", "image"], function* ({ proxmox, image }) {
  if (proxmox === undefined) return;
  const agent = "siderolabs/qemu-guest-agent";
  if (proxmox.vm.agent && !image.extensions.includes(agent)) {
    yield {
      path: "image.extensions",
      message: `lacks ${agent}, but proxmox.vm.agent is on: Proxmox would wait for an agent that never answers`,
    };
  }
  if (!proxmox.vm.agent && image.extensions.includes(agent)) {
    yield {
      path: "proxmox.vm.agent",
      message: `is off, but image.extensions has ${agent}: its service would wait for the device for ever and never be healthy`,
    };
  }
  if (proxmox.vm.preEnrolledKeys && !image.secureBoot) {
    yield {
      path: "proxmox.vm.preEnrolledKeys",
      message: "is on, but image.secureBoot is off: the firmware would refuse to start an unsigned image",
    };
  }
  if (image.architecture !== "amd64") {
    yield { path: "image.architecture", message: `is ${image.architecture}, but a q35 machine is amd64` };
  }
});

/** S4.1: a VM's id and its host are the person's to say; ids that follow from a position would move with the list. */
export const vmPlaces = rule(["platform", "proxmox", "nodes"], function* ({ platform, proxmox, nodes }) {
  if (platform !== "proxmox" || proxmox === undefined) return;
  for (const [index, host] of proxmox.hosts.entries()) {
    if (proxmox.hosts.indexOf(host) < index) {
      yield { path: `proxmox.hosts[${index}]`, message: `${host} is listed before: remove one` };
    }
  }
  for (const [index, { vmId, host }] of nodes.entries()) {
    if (vmId === undefined) {
      yield { path: `nodes[${index}].vmId`, message: "is missing: on Proxmox every node needs a VM id of its own" };
    }
    if (host !== undefined && !proxmox.hosts.includes(host)) {
      yield {
        path: `nodes[${index}].host`,
        message: `${host} is not one of proxmox.hosts: ${proxmox.hosts.join(", ")}`,
      };
    }
  }
});
