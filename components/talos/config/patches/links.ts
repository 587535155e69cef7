import { addressLink, nicAlias } from "../../../network/addressLink.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isContractAtLeast } from "../versions.ts";
import { isNicKnown, requireMac, staticAddressing } from "./nic.ts";

/**
 * How the node's NIC gets its address, from contract v1.12 on.
 * It is written even if DHCP is the default: one link document of any kind, such as the one for `lo`, turns the default off on every NIC
 * (RunDefaultDHCPOperators in Talos' config container), and the node would be unreachable.
 */
export function linksPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  const { platform, network, contract } = input;
  if (!isContractAtLeast(contract, 12)) {
    return [];
  }
  if (platform.nicNames !== undefined) return platform.nicNames.map(dhcp);
  const tag = network.vlan?.mode === "trunk" ? network.vlan.tag : undefined;
  if (!isNicKnown(input, node) && network.addressing === "dhcp" && tag === undefined) {
    return [];
  }
  const mac = requireMac(node, tag === undefined ? `network.addressing '${network.addressing}'` : "network.vlan");
  const link = addressLink(input);
  const addressing = network.addressing === "dhcp" ? {} : fixed(network, node);

  return [
    document("LinkAliasConfig", nicAlias, { selector: { match: `mac(link.permanent_addr) == "${mac}"` } }),
    ...(tag === undefined
      ? [document("LinkConfig", nicAlias, addressing)]
      : [
          document("LinkConfig", nicAlias, {}),
          document("VLANConfig", link, { vlanID: tag, parent: nicAlias, ...addressing }),
        ]),
    ...(network.addressing === "dhcp" ? [dhcp(link)] : []),
  ];
}

function fixed(network: MachineConfigInput["network"], node: MachineNode) {
  const { address, gateway } = staticAddressing(network, node);
  return { addresses: [{ address }], ...(gateway !== undefined && { routes: [{ gateway }] }) };
}

function dhcp(link: string): ConfigPatch {
  return document("DHCPv4Config", link, {});
}

function document(kind: string, name: string, body: ConfigPatch): ConfigPatch {
  return { apiVersion: "v1alpha1", kind, name, ...body };
}
