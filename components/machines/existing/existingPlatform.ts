import type { CurrentMachine, MachinePlatform } from "../../lifecycle/machinePlatform.ts";

/** Machines that someone else has set up, bare metal or virtual. Only the list knows of them. */
export const existingPlatform = {
  name: "existing",
  createsMachines: false,
  // META key 10 is only read on metal.
  talosPlatform: () => "metal",
  hasImagePerNode: false,
  choosesMacs: false,
  machineTraits: {},
  unansweredCode: "SLU-M102",
  async currentMachines({ entries }) {
    return Object.fromEntries(
      Object.entries(entries).map(([node, { talosAddress, address }]): [string, CurrentMachine] => [
        node,
        { talosAddress: talosAddress ?? address },
      ]),
    );
  },
} as const satisfies MachinePlatform;
