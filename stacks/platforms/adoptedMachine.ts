import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../components/model/machine.ts";
import type { NodeSettings } from "../../components/model/settings/node.ts";
import type { FoundMachines } from "./foundMachines.ts";

/** A found machine as the chain uses it. */
export function adoptedMachine(
  { name, role, address }: Pick<NodeSettings, "name" | "role" | "address">,
  { byNode }: FoundMachines,
): Machine {
  const found = byNode[name];
  if (found === undefined) throw new Error(`no machine of ${name} was found`); // the command has checked it
  const { talosAddress, identity, machineId, providerId } = found;
  return {
    ...{ name, role, address },
    talosAddress: pulumi.output(talosAddress),
    identity: pulumi.output(identity),
    machineId: pulumi.output(machineId),
    ...(providerId !== undefined && { providerId: pulumi.output(providerId) }),
  };
}
