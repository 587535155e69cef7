// What follows from the entry of a node alone: its machine, and the patches of its machine config.
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";
import type { ExistingConfig } from "./existingRules.ts";
import type { FoundMachine, FoundMachines } from "./foundMachines.ts";

type ExistingNode = ExistingConfig["nodes"][number];

/** An address by which the machine is reached from outside is on none of its interfaces, so only a patch adds it to its certificates. */
export function existingPatches({ role, reach, address }: ExistingNode): readonly ConfigPatch[] {
  if (reach === undefined || reach === address) return [];
  const certSANs = [reach];
  return [{ machine: { certSANs } }, ...(role === "controlplane" ? [{ cluster: { apiServer: { certSANs } } }] : [])];
}

/** The list is all that there is of them. An entry without UUID and MAC accepts any machine at its address. */
export function listedMachines(nodes: readonly ExistingNode[]): FoundMachines {
  const machines = nodes.map(({ name, address, reach, mac, uuid }): [string, FoundMachine] => [
    name,
    {
      talosAddress: reach ?? address,
      identity: { ...(mac !== undefined && { mac }), ...(uuid !== undefined && { uuid }) },
      machineId: uuid ?? mac ?? address,
    },
  ]);
  return { byNode: Object.fromEntries(machines) };
}
