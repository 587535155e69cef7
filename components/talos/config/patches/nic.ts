import type { MachineConfigInput, MachineNode } from "../machineInput.ts";

/** Whether the config can identify the NIC: by its name if the platform fixes it, else by its MAC address. */
export function isNicKnown({ platform }: MachineConfigInput, { mac }: MachineNode): boolean {
  return platform.nicNames !== undefined || mac !== undefined;
}

/** The node's MAC address, which must be known for `purpose`. */
export function requireMac({ name, mac }: MachineNode, purpose: string): string {
  if (mac === undefined) {
    throw new Error(`node '${name}' has no 'mac', by which its NIC is found: it is needed for ${purpose}`);
  }
  return mac;
}

/** What the node would otherwise get from DHCP: its address in the node network and the default route. */
export function staticAddressing({ nodeCidr, gateway }: MachineConfigInput["network"], { address }: MachineNode) {
  const [, prefixLength] = nodeCidr.split("/");
  return { address: `${address}/${prefixLength}`, gateway };
}
