import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";

/** From the moment the config is read; earlier messages need the kernel argument `talos.logging.kernel` in the schematic. */
export function kernelLogsPatches({ machine: { logShipping } }: MachineConfigInput): readonly ConfigPatch[] {
  return logShipping.enabled
    ? [{ apiVersion: "v1alpha1", kind: "KmsgLogConfig", name: "kernel-logs", url: logShipping.kernel }]
    : [];
}
