import type {
  CurrentMachines,
  CurrentMachinesArgs,
  MachinePlace,
  MachinePlatform,
} from "../lifecycle/machinePlatform.ts";
import { machinePlatforms } from "./platforms.ts";

/** The platform that the state names. */
export function platformAt({ kind }: MachinePlace): MachinePlatform {
  const found = machinePlatforms.find(({ name }) => name === kind);
  if (found === undefined) throw new Error(`there is no platform '${kind}'`); // a state of another version
  return found;
}

/** By node name. */
export const currentMachines = async (args: CurrentMachinesArgs): Promise<CurrentMachines> =>
  platformAt(args.place).currentMachines(args);
