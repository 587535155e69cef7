import { countedNames } from "../../components/images/platformNetwork.ts";
import { vmHost } from "../../components/machines/vmHost.ts";
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

/** S4.1: the loss of one Proxmox host is to cost as few control planes as can be. Who names the hosts of all of them has thought of it. */
export const vmSpread = rule(["platform", "proxmox", "nodes"], function* ({ platform, proxmox, nodes }) {
  if (platform !== "proxmox" || proxmox === undefined) return;
  const hosts = [...new Set(proxmox.hosts)];
  const placed = nodes.flatMap((node, index) =>
    node.role === "controlplane" ? [{ ...node, index, on: vmHost(node, hosts) }] : [],
  );
  if (placed.every(({ host }) => host !== undefined)) return;
  const most = Math.ceil(placed.length / hosts.length);
  for (const on of hosts) {
    const there = placed.filter((node) => node.on === on);
    const movable = there.find(({ host }) => host === undefined);
    if (there.length > most && movable !== undefined) {
      const names = there.map(({ name }) => name).join(", ");
      yield {
        path: `nodes[${movable.index}].host`,
        message: `by their addresses the control planes ${names} would all be on ${on}, and with ${hosts.length} hosts ${most} at most need to be: name the host, or take neighbouring addresses`,
      };
    }
  }
});

/** What a control plane cannot do without, whatever its entry says. */
const leastOfControlPlanes = { cores: 2, memory: 2048 } as const;

export const vmSizes = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { role, size }] of nodes.entries()) {
    if (role !== "controlplane") continue;
    for (const key of ["cores", "memory"] as const) {
      const [got, least] = [size?.[key], leastOfControlPlanes[key]];
      if (got !== undefined && got < least) {
        yield { path: `nodes[${index}].size.${key}`, message: `is ${got}, and a control plane needs ${least}` };
      }
    }
  }
});

/** S4.3: what carries the address to the node on its first boot has limits of its own. */
export const vmAddressing = rule(["platform", "network", "image"], function* ({ platform, network, image }) {
  if (platform !== "proxmox") return;
  if (network.addressing === "nocloud" && network.vlan?.mode === "trunk") {
    yield {
      path: "network.vlan.mode",
      message:
        "'trunk' with network.addressing 'nocloud': Proxmox writes seeds without VLANs: use mode 'access', or addressing 'meta'",
    };
  }
  const named = image.kernelArgs.find((argument) => argument.startsWith("net.ifnames=") && argument !== countedNames);
  if (network.addressing === "meta" && named !== undefined) {
    yield {
      path: "image.kernelArgs",
      message: `${named} with network.addressing 'meta': the image has the address for eth0, which ${countedNames} makes the NIC's name: remove it`,
    };
  }
});
