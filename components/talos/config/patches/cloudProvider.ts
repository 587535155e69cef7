import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";

/** The cloud controller, and not the kubelet, reports which machine a node is; until then the node accepts no ordinary pod. */
export function cloudProviderPatches({ hasCloudController }: MachineConfigInput): readonly ConfigPatch[] {
  return hasCloudController ? [{ cluster: { externalCloudProvider: { enabled: true } } }] : [];
}
