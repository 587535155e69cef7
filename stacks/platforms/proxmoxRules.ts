import { isIPv4 } from "node:net";
import { countedNames } from "../../components/images/platformNetwork.ts";
import { vmHost } from "../../components/machines/proxmox/vmHost.ts";
import type { proxmoxNode, proxmox as section } from "../../components/model/settings/proxmox.ts";
import { rulesOn } from "../base/rule.ts";
import type { PlatformConfig } from "./platform.ts";
import { proxmoxNames, proxmoxSizes } from "./proxmoxCatalogue.ts";

export type ProxmoxConfig = PlatformConfig<typeof section, typeof proxmoxNode>;
const rule = rulesOn<ProxmoxConfig>();

/** S2.5: the VM's devices and the image's extensions must match. */
const vmAndImage = rule(["settings", "image"], function* ({ settings: proxmox, image }) {
  const agent = "siderolabs/qemu-guest-agent";
  if (proxmox.vm.agent && !image.extensions.includes(agent)) {
    yield {
      path: "image.extensions",
      message: `does not contain ${agent}, but proxmox.vm.agent is on: Proxmox would wait for an agent that never answers`,
    };
  }
  if (!proxmox.vm.agent && image.extensions.includes(agent)) {
    yield {
      path: "proxmox.vm.agent",
      message: `is off, but image.extensions has ${agent}: its service would wait for the device indefinitely and never be healthy`,
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

/** S2.5: every VM has one disk, on a SCSI controller. */
const vmDisk = rule(["install", "nodes"], function* ({ install, nodes }) {
  const disks = [
    { path: "install.disk", disk: install.disk },
    ...nodes.map((node, index) => ({ path: `nodes[${index}].install.disk`, disk: node.install?.disk })),
  ];
  for (const { path, disk } of disks) {
    if (disk === undefined || disk === "/dev/sda" || !/^\/dev\/[^/]+$/.test(disk)) continue;
    yield { path, message: `${disk} is not there in a VM that Sluice creates: its only disk is /dev/sda` };
  }
});

/** S4.1: VM ids are set, because ids that follow from a position would change with the list. */
const vmPlaces = rule(["settings", "nodes"], function* ({ settings: proxmox, nodes }) {
  for (const [index, host] of proxmox.hosts.entries()) {
    if (proxmox.hosts.indexOf(host) < index) {
      yield { path: `proxmox.hosts[${index}]`, message: `${host} is listed twice: remove one` };
    }
  }
  for (const [index, { vmId, host }] of nodes.entries()) {
    if (vmId === undefined) {
      yield { path: `nodes[${index}].vmId`, message: "is missing: on Proxmox every node needs its own VM id" };
    }
    if (host !== undefined && !proxmox.hosts.includes(host)) {
      yield {
        path: `nodes[${index}].host`,
        message: `${host} is not one of proxmox.hosts: ${proxmox.hosts.join(", ")}`,
      };
    }
  }
});

/** S4.1: the loss of one Proxmox host must cost as few control planes as possible, unless the hosts of all of them are set. */
const vmSpread = rule(["settings", "nodes"], function* ({ settings: proxmox, nodes }) {
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
        message: `by their addresses the control planes ${names} would all be on ${on}, and with ${hosts.length} hosts it can be ${most} at most: set the host, or use consecutive addresses`,
      };
    }
  }
});

/** The least that a control plane needs. */
const leastOfControlPlanes = { cores: 2, memory: 2048 } as const;

const vmSizes = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { role, size }] of nodes.entries()) {
    if (role !== "controlplane") continue;
    for (const key of ["cores", "memory"] as const) {
      const [got, least] = [size?.[key], leastOfControlPlanes[key]];
      if (got !== undefined && got < least) {
        yield { path: `nodes[${index}].size.${key}`, message: `is ${got}, but a control plane needs ${least} or more` };
      }
    }
  }
});

/** S4.3: limits of how a node gets its address on its first boot. */
const vmAddressing = rule(["network", "image"], function* ({ network, image }) {
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
      message: `${named} with network.addressing 'meta': the image has the address for eth0, the NIC's name with ${countedNames}: remove it`,
    };
  }
});

const onLab = rule(["lab", "settings"], function* ({ lab, settings: { endpoint, insecure } }) {
  if (lab === undefined) return;
  if (!isIPv4(new URL(endpoint).hostname)) {
    yield { path: "proxmox.endpoint", message: "must have an address and not a name: a lab resolves no names" };
  }
  if (!insecure) {
    yield {
      path: "proxmox.insecure",
      message: "must be true: the lab's Proxmox has a self-signed certificate",
    };
  }
});

export const proxmoxRules = [
  proxmoxNames,
  proxmoxSizes,
  vmAndImage,
  vmDisk,
  vmPlaces,
  vmSpread,
  vmSizes,
  vmAddressing,
  onLab,
];
