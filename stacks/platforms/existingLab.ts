// The existing machines of an environment, as the lab simulates them.
import { schematicId, schematicYaml } from "../../components/images/schematic.ts";
import { prefixLength } from "../../components/network/cidr.ts";
import { diskChoice } from "../../components/talos/config/installDisk.ts";
import type { GeneralConfig } from "../base/generalConfig.ts";
import { disksFor } from "./existingLabDisks.ts";
import { gatewayOf } from "./labGateway.ts";
import type { LabMachine } from "./labNeeds.ts";

type Described = Pick<GeneralConfig, "clusterName" | "nodes" | "network" | "talosVersion" | "image" | "install">;

/** Each boots a medium with the Talos of the environment, and has its address from its router or its owner. */
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
