import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";

/** A kubelet leaves it to the cloud's controller to say which machine it is; until that runs the node takes no ordinary pod. */
export function cloudProviderPatches({ hetzner }: MachineConfigInput): readonly ConfigPatch[] {
  return hetzner?.cloudControllerManager.enabled === true
    ? [{ cluster: { externalCloudProvider: { enabled: true } } }]
    : [];
}
