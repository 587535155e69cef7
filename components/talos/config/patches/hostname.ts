import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isAtLeast } from "../versions.ts";

export function hostnamePatches({ talosVersion }: MachineConfigInput, { name }: MachineNode): readonly ConfigPatch[] {
  return isAtLeast(talosVersion, 12)
    ? // The generator writes `auto: stable` from 1.12 on, which Talos refuses beside a hostname.
      [{ apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname: name }]
    : [{ machine: { network: { hostname: name } } }];
}
