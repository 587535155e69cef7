import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";

export function serviceLogsPatches({ machine: { logShipping } }: MachineConfigInput): readonly ConfigPatch[] {
  return logShipping.enabled
    ? [{ machine: { logging: { destinations: [{ endpoint: logShipping.services, format: "json_lines" }] } } }]
    : [];
}
