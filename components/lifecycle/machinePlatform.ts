import type { FailureCode } from "../errors/catalogue.ts";
import type { PlatformTraits } from "../model/platformTraits.ts";
import type { Clock } from "../waiting/clock.ts";
import type { MachineEntries, MachineTraits, MachineTraitTable } from "./changePlan.ts";
import type { CreatedResources } from "./createdResource.ts";

/** The offline part of a platform, and what Sluice asks of it without the engine's own providers. */
export interface MachinePlatform extends PlatformTraits {
  /** What a change of one of these keys in a node's entry does to its machine. Every other change is made while the machine runs. */
  readonly machineTraits: MachineTraitTable;
  /** The machines that exist now, by node name: these are the ones that a change would power off or delete, whatever the state or the list says. */
  currentMachines(args: CurrentMachinesArgs): Promise<CurrentMachines>;
  /** Everything that carries the cluster's mark; undefined if Sluice creates nothing on this platform. */
  createdResources?(args: CreatedResourcesArgs): Promise<CreatedResources>;
  /** The failure if the platform does not answer. */
  readonly unansweredCode: FailureCode;
}

/** Where machines are looked up. Its other fields belong to the platform; it is kept in the state. */
export interface MachinePlace {
  /** The platform's name. */
  readonly kind: string;
  readonly [key: string]: unknown;
}

export interface CurrentMachinesArgs {
  readonly place: MachinePlace;
  /** The account's token. Secret. */
  readonly token?: string | undefined;
  /** The nodes, as they were listed when their machines were created. */
  readonly entries: MachineEntries;
}

/** The nodes, as they are listed now. */
export interface CreatedResourcesArgs extends CurrentMachinesArgs {
  /** The names of the resources in the state, by their ids. */
  readonly known: Readonly<Record<string, string>>;
  /** Until a call counts as not answered. */
  readonly deadlineSeconds: number;
  readonly clock: Clock;
  /** Reports what it is waiting for. */
  readonly report: (text: string) => void;
}

export interface CurrentMachine extends MachineTraits {
  /** Where it is reached from this host. */
  readonly talosAddress: string;
}

export type CurrentMachines = Readonly<Record<string, CurrentMachine>>;
