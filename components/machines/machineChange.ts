// What becomes of machines whose entries in the list of nodes change, as far as the lists tell it.
import type { Role } from "./node.ts";

/** What of a node's entry decides about its machine. */
export interface MachineEntry {
  readonly role: Role;
  /** In the node network. */
  readonly address: string;
  /** Hetzner. */
  readonly serverType?: string;
  /** Hetzner. */
  readonly location?: string;
  /** Proxmox. */
  readonly vmId?: number;
  /** Of a machine that was there before: how it is reached from here. */
  readonly reach?: string;
  /** Of a machine that was there before: what its owner knows it by. */
  readonly identity?: string;
}

export type MachineEntries = Readonly<Record<string, MachineEntry>>;

/** What the provider does to a machine for a change of one of these. Any other change it makes while the machine runs. */
const traits = {
  serverType: { words: "type", effect: "off" },
  location: { words: "location", effect: "anew" },
  vmId: { words: "VM id", effect: "anew" },
} as const satisfies Partial<Record<keyof MachineEntry, { words: string; effect: "off" | "anew" }>>;

export type MachineTraits = { readonly [Trait in keyof typeof traits]?: MachineEntry[Trait] };

export interface MachineChange {
  readonly node: string;
  readonly role: Role;
  readonly effect: "off" | "anew";
  /** Of what: "type". */
  readonly of: string;
  readonly was: string;
  readonly is: string;
}

/** Of nodes that are in both lists; what one of them does not tell is no change. A machine that is made anew is nothing else. */
export function machineChanges(was: Readonly<Record<string, MachineTraits>>, is: MachineEntries): MachineChange[] {
  return Object.entries(is).flatMap(([node, entry]) => {
    const changes = Object.entries(traits).flatMap(([trait, { words, effect }]) => {
      const [before, after] = [was[node], entry].map((one) => one?.[trait as keyof typeof traits]);
      if (before === undefined || after === undefined || before === after) return [];
      return [{ node, role: entry.role, effect, of: words, was: `${before}`, is: `${after}` }];
    });
    return changes.find(({ effect }) => effect === "anew") ?? changes[0] ?? [];
  });
}

export function inWords({ node, effect, of, was, is }: MachineChange): string {
  return `${node} is ${effect === "off" ? "turned off" : "made anew"} for a change of its ${of}: ${was} -> ${is}`;
}

/** A node that comes with what another one has still, whose machine goes last. */
export interface Takeover {
  readonly node: string;
  readonly from: string;
  /** "address 10.0.1.21". */
  readonly words: string;
}

export function takeovers(was: MachineEntries, is: MachineEntries): Takeover[] {
  const leaving = Object.entries(was).filter(([node]) => is[node] === undefined);
  return Object.entries(is)
    .filter(([node]) => was[node] === undefined)
    .flatMap(([node, { address, vmId }]) => {
      const [from] = leaving.find(([, one]) => one.address === address) ?? [];
      if (from !== undefined) return [{ node, from, words: `address ${address}` }];
      const [other] = leaving.find(([, one]) => vmId !== undefined && one.vmId === vmId) ?? [];
      return other === undefined ? [] : [{ node, from: other, words: `VM id ${vmId}` }];
    });
}

/** A node that is to have another address. */
export interface Move {
  readonly node: string;
  readonly was: MachineEntry;
  readonly is: MachineEntry;
}

/** Of nodes whose machine stays. Whoever gives neither UUID nor MAC of a machine that was there before means another one by another address. */
export function moves(was: MachineEntries, is: MachineEntries): Move[] {
  return Object.entries(is).flatMap(([node, entry]) => {
    const before = was[node];
    if (before === undefined || before.address === entry.address) return [];
    return before.identity === entry.identity && before.identity !== "" ? [{ node, was: before, is: entry }] : [];
  });
}
