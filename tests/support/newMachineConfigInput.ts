import type { MachineConfigInput } from "../../components/talos/config/machineInput.ts";
import { newContract } from "../../components/talos/config/versions.ts";
import { machineConfigInput } from "../../stacks/machineConfigInput.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";

/** The input of a cluster that is created now. */
export function newMachineConfigInput(config: ClusterConfig): MachineConfigInput {
  return { ...machineConfigInput(config), contract: newContract(config) };
}
