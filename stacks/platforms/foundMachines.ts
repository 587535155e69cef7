import type { MachineIdentity } from "../../components/model/machine.ts";

/** The machines of a running cluster, which Sluice did not create. */
export interface FoundMachines {
  /** By node name. */
  readonly byNode: Readonly<Record<string, FoundMachine>>;
  /** A public address that serves the Kubernetes API for all control planes. */
  readonly publicAddress?: string | undefined;
}

/** For the calls that find a running cluster. */
export interface AdoptionAccess {
  /** Secret. */
  readonly token: string;
  /** Until a call counts as not answered. */
  readonly deadlineSeconds: number;
  /** Names or ids of machines by node name, where the user has named them. */
  readonly chosen: Readonly<Record<string, string>>;
}

/** What a platform has of a running cluster. */
export interface FoundPlatform {
  readonly machines: FoundMachines;
  /** What else the program would create, and exists. */
  readonly resources: readonly FoundResource[];
  /** Why the machines are not those that the environment describes. */
  readonly faults: readonly PlatformFault[];
  /** What the next `up` creates besides, and a user should know before. */
  readonly notes?: readonly string[];
}

/** A resource that exists, as the program would create it. */
export interface FoundResource {
  readonly type: string;
  readonly name: string;
  /** The component that it is a part of. */
  readonly component: { readonly type: string; readonly name: string };
  /** By which its plugin imports it. */
  readonly id: string;
  /** What the program asks for, where the resource is exactly that; otherwise the next `up` changes it. */
  readonly inputs?: Readonly<Record<string, unknown>>;
}

/** Something that keeps a cluster from being adopted. */
export interface PlatformFault {
  readonly where: string;
  readonly seen: string;
  readonly remedy: string;
}

/** The same as `Machine`, with values that are known. */
export interface FoundMachine {
  readonly talosAddress: string;
  readonly identity: MachineIdentity;
  readonly machineId: string;
  readonly providerId?: string | undefined;
  /** The Proxmox host that it is on. */
  readonly host?: string | undefined;
}
