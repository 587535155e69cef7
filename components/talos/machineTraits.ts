// What a machine is beyond its address, by its own word, and whether it is the one meant.
import type { MachineIdentity } from "../machines/machine.ts";
import type { CallOptions } from "./client/connection.ts";
import { resources } from "./client/resources.ts";
import { textOf } from "./client/specs.ts";
import type { TalosClient } from "./client/talosClient.ts";

export interface MachineTraits {
  /** Of all its NICs, the permanent ones too. */
  readonly macs: readonly string[];
  /** Empty where it does not tell. */
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

/** In words, each way in which it is not the machine that is meant; what is not known of that one is not compared. */
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
