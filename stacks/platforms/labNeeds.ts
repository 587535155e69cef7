// What a lab provides for the environments on it: the platform as its owner would have set it up before Sluice runs.

/** In the format that `sluice-lab up --needs` reads. */
export interface LabNeeds {
  /** Snapshots that Hetzner servers start from. */
  readonly snapshots?: readonly LabSnapshot[];
  readonly proxmox?: LabProxmox;
  /** Existing machines. */
  readonly machines?: readonly LabMachine[];
}

/** A snapshot of Talos in the lab's cloud. */
export interface LabSnapshot {
  readonly talos: string;
  readonly schematic: string;
  readonly customization: string;
  readonly arch: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface LabProxmox {
  readonly address: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly storages: readonly { readonly name: string; readonly content: readonly string[] }[];
  readonly network: string;
  readonly gateway: string;
  /** Whether the router is a DHCP server. */
  readonly dhcp: boolean;
  /** The addresses that it reserves. */
  readonly reservations?: readonly { readonly mac: string; readonly address: string }[];
}

export interface LabMachine {
  readonly name: string;
  /** With prefix length: `10.0.0.11/16`. */
  readonly address: string;
  readonly gateway: string;
  readonly dhcp: boolean;
  readonly mac?: string;
  readonly uuid?: string;
  readonly talos: string;
  readonly schematic: string;
  readonly customization: string;
  readonly arch: string;
  readonly disks: readonly LabDisk[];
}

export interface LabDisk {
  readonly device: string;
  readonly gb: number;
  readonly model?: string;
  readonly serial?: string;
  readonly wwid?: string;
  readonly busPath?: string;
  readonly transport: string;
  readonly rotational?: boolean;
}
