// The machines that an environment says are already there.
import { schematicId, schematicYaml } from "../../components/images/schematic.ts";
import { prefixLength } from "../../components/network/cidr.ts";
import { diskChoice } from "../../components/talos/installDisk.ts";
import type { ClusterConfig } from "../../stacks/schema.ts";
import { disksFor, type LabDisk } from "./disksFor.ts";
import { gatewayOf } from "./gatewayOf.ts";

/** As the lab's config has it. */
export interface LabMachine {
  readonly name: string;
  /** With the length of the prefix: `10.0.0.11/16`. */
  readonly address: string;
  readonly gateway: string;
  readonly dhcp: boolean;
  readonly mac?: string;
  readonly uuid?: string;
  readonly talos: string;
  readonly schematic: string;
  readonly customization: string;
  readonly arch: string;
  readonly disks: readonly LabDisk[];
}

type Described = Pick<ClusterConfig, "clusterName" | "nodes" | "network" | "talosVersion" | "image" | "install">;

/** Each boots a medium with the Talos that the environment names, and has its address from its router or its owner. */
export function machinesFor({ clusterName, nodes, network, talosVersion, image, install }: Described): LabMachine[] {
  return nodes.map((node) => ({
    name: `${clusterName}-${node.name}`,
    address: `${node.address}/${prefixLength(network.nodeCidr)}`,
    gateway: gatewayOf(network),
    dhcp: network.addressing === "dhcp",
    ...(node.mac !== undefined && { mac: node.mac }),
    ...(node.uuid !== undefined && { uuid: node.uuid }),
    talos: talosVersion,
    schematic: schematicId(image),
    customization: schematicYaml(image),
    arch: image.architecture,
    disks: disksFor(diskChoice(install, node.install)),
  }));
}
