// What a machine reports about itself besides its address, and whether it is the expected one.
import type { MachineIdentity } from "../../model/machine.ts";
import type { CallOptions } from "../client/connection.ts";
import { resources } from "../client/resources.ts";
import { textOf } from "../client/specs.ts";
import type { TalosClient } from "../client/talosClient.ts";

export interface MachineTraits {
  /** The MACs of all its NICs, including the permanent ones. */
  readonly macs: readonly string[];
  /** Empty if the machine reports none. */
  readonly uuid: string;
}

export async function readTraits(
  client: Pick<TalosClient, "get" | "list">,
  options?: CallOptions,
): Promise<MachineTraits> {
  const [links, system] = await Promise.all([
    client.list(resources.links, options),
    client.get(resources.systemInformation, "systeminformation", options),
  ]);
  const macs = links.flatMap((link) => [textOf(link.spec, "hardwareAddr"), textOf(link.spec, "permanentAddr")]);
  return {
    macs: [...new Set(macs)].filter((mac) => mac !== "" && !mac.startsWith("00:00:00:00")),
    uuid: textOf(system?.spec, "uuid"),
  };
}

/** Each way in which it is not the expected machine, as text; unknown traits of the expected one are not compared. */
export function identityFaults({ mac, uuid }: MachineIdentity, traits: MachineTraits): readonly string[] {
  const faults: string[] = [];
  if (mac !== undefined && !traits.macs.some((one) => isSame(one, mac))) {
    faults.push(`no NIC has the MAC address ${mac}; there are ${traits.macs.join(", ") || "none"}`);
  }
  if (uuid !== undefined && !isSame(traits.uuid, uuid)) {
    faults.push(`its machine UUID is ${traits.uuid || "not known"}, not ${uuid}`);
  }
  return faults;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
