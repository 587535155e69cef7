import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isContractAtLeast } from "../versions.ts";
import { isNicKnown } from "./nic.ts";

/** Where Talos' resolver listens for pods (constants.HostDNSAddress). */
const hostDNSAddress = "169.254.116.108/32";

/**
 * Talos itself puts the address on `lo`, but with host scope, which Cilium ignores (`local-max-addr-scope`, 252 by default): with eBPF
 * host routing pods do not reach the resolver (siderolabs/talos#10002). From the config the address has global scope.
 */
export function ciliumHostDNSPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  const { hostDNS, ciliumHostDNS } = input.machine;
  if (!(ciliumHostDNS ?? (hostDNS.enabled && hostDNS.forwardKubeDNSToHost))) {
    return [];
  }
  // The document would turn DHCP off on a NIC that no other document can name: the older field is used there.
  return isContractAtLeast(input.contract, 12) && isNicKnown(input, node)
    ? [{ apiVersion: "v1alpha1", kind: "LinkConfig", name: "lo", addresses: [{ address: hostDNSAddress }] }]
    : [{ machine: { network: { interfaces: [{ interface: "lo", addresses: [hostDNSAddress] }] } } }];
}
