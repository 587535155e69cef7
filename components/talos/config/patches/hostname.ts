import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isContractAtLeast } from "../versions.ts";

export function hostnamePatches({ contract }: MachineConfigInput, { name }: MachineNode): readonly ConfigPatch[] {
  return isContractAtLeast(contract, 12)
    ? // The generator writes `auto: stable` from contract v1.12 on, which Talos refuses beside a hostname.
      [{ apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname: name }]
    : [{ machine: { network: { hostname: name } } }];
}
