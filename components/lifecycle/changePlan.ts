// What happens to machines whose entries in the list of nodes change, as far as the lists show it.
import type { Role } from "../model/role.ts";

/** The parts of a node's entry that determine its machine. */
export interface MachineEntry {
  readonly role: Role;
  /** In the node network. */
  readonly address: string;
  /** For an existing machine: how it is reached from this host. */
  readonly talosAddress?: string;
  /** For an existing machine: the identity in its entry. */
  readonly identity?: string;
  /** Other traits that its platform uses: a server's type, a VM's id. */
  readonly [trait: string]: string | number | undefined;
}

export type MachineEntries = Readonly<Record<string, MachineEntry>>;

/** What a change of a trait does to the machine. */
export interface MachineTrait {
  /** The trait's name in messages. */
  readonly words: string;
  readonly effect: "off" | "recreate";
  /** No two machines can have the same value, so a node cannot take it over while another node's machine has it. */
  readonly isUnique?: true;
}

/** The traits of a platform's machines, by their keys in an entry. */
export type MachineTraitTable = Readonly<Record<string, MachineTrait>>;

/** The traits that a machine has. */
export type MachineTraits = Readonly<Record<string, string | number | undefined>>;

export interface MachineChange {
  readonly node: string;
  readonly role: Role;
  readonly effect: "off" | "recreate";
  /** The name of the trait: "type". */
  readonly of: string;
  readonly was: string;
  readonly is: string;
}

/** The changes of nodes that are in both lists; a trait that only one of them has is no change. For a machine that is recreated only that is reported. */
export function machineChanges(
  was: Readonly<Record<string, MachineTraits>>,
  is: MachineEntries,
  traits: MachineTraitTable,
): MachineChange[] {
  return Object.entries(is).flatMap(([node, entry]) => {
    const changes = Object.entries(traits).flatMap(([trait, { words, effect }]) => {
      const [before, after] = [was[node], entry].map((one) => one?.[trait]);
      if (before === undefined || after === undefined || before === after) return [];
      return [{ node, role: entry.role, effect, of: words, was: `${before}`, is: `${after}` }];
    });
    return changes.find(({ effect }) => effect === "recreate") ?? changes[0] ?? [];
  });
}

export function inWords({ node, effect, of, was, is }: MachineChange): string {
  return `${node} is ${effect === "off" ? "turned off" : "recreated"} for a change of its ${of}: ${was} -> ${is}`;
}

/** A new node that needs what a leaving node still has, because the leaving node's machine is deleted last. */
export interface Takeover {
  readonly node: string;
  readonly from: string;
  /** "address 10.0.1.21". */
  readonly words: string;
}

export function takeovers(was: MachineEntries, is: MachineEntries, traits: MachineTraitTable): Takeover[] {
  const unique = Object.entries(traits).filter(([, { isUnique }]) => isUnique);
  const wanted = [["address", "address"], ...unique.map(([trait, { words }]) => [trait, words])] as const;
  const leaving = Object.entries(was).filter(([node]) => is[node] === undefined);
  return Object.entries(is)
    .filter(([node]) => was[node] === undefined)
    .flatMap(([node, entry]) => {
      const taken = wanted.flatMap(([trait, words]) => {
        const value = entry[trait];
        const [from] = leaving.find(([, one]) => value !== undefined && one[trait] === value) ?? [];
        return from === undefined ? [] : [{ node, from, words: `${words} ${value}` }];
      });
      return taken.slice(0, 1);
    });
}

/** A node whose address changes. */
export interface Move {
  readonly node: string;
  readonly was: MachineEntry;
  readonly is: MachineEntry;
}

/** Of nodes that keep their machine. An existing machine without UUID and MAC in its entry counts as another machine if its address changes. */
export function moves(was: MachineEntries, is: MachineEntries): Move[] {
  return Object.entries(is).flatMap(([node, entry]) => {
    const before = was[node];
    if (before === undefined || before.address === entry.address) return [];
    return before.identity === entry.identity && before.identity !== "" ? [{ node, was: before, is: entry }] : [];
  });
}
