// What labs have for the environments on them.
import type { LabMachine } from "./machinesFor.ts";
import type { LabProxmox } from "./proxmoxFor.ts";
import { distinct, isAmong, type LabSnapshot } from "./snapshots.ts";

/** As `sluice-lab up --needs` reads it. */
export interface LabPlatform {
  /** What servers of Hetzner start from. */
  readonly snapshots?: readonly LabSnapshot[];
  readonly proxmox?: LabProxmox;
  /** Machines that are already there. */
  readonly machines?: readonly LabMachine[];
}

/** One that serves all. A lab has one Proxmox, and at an address one machine: where they differ, the first has it. */
export function allOf(platforms: readonly LabPlatform[]): LabPlatform {
  const snapshots = distinct(platforms.flatMap((platform) => platform.snapshots ?? []));
  const clusters = platforms.flatMap(({ proxmox }) => proxmox ?? []);
  const machines = platforms.flatMap((platform) => platform.machines ?? []);
  const [first] = clusters;
  return {
    ...(snapshots.length > 0 && { snapshots }),
    ...(first && { proxmox: clusters.filter((other) => isSame(first, other)).reduce(together) }),
    ...(machines.length > 0 && { machines: machines.filter((one, at) => machines.findIndex(isAt(one)) === at) }),
  };
}

/** What one lacks of what is wanted, in words; undefined where it has all. */
export function lackOf(given: LabPlatform, { snapshots = [], proxmox }: LabPlatform): string | undefined {
  const snapshot = snapshots.find((one) => !isAmong(one, given.snapshots ?? []));
  if (snapshot !== undefined) return `a snapshot '${snapshot.description}'`;
  return proxmox !== undefined && !has(given.proxmox, proxmox) ? described(proxmox) : undefined;
}

function described({ address, port, hosts, storages }: LabProxmox): string {
  return `a Proxmox at ${address}:${port} with host ${hosts.join(", ")} and storage ${storages.map(({ name }) => name).join(", ")}`;
}

/** Two environments of one home say of it what each needs. */
function isSame(one: LabProxmox, other: LabProxmox): boolean {
  const place = ({ address, port, network, gateway }: LabProxmox) => `${address} ${port} ${network} ${gateway}`;
  return place(one) === place(other);
}

function together(one: LabProxmox, other: LabProxmox): LabProxmox {
  const contents = new Map(one.storages.map(({ name, content }) => [name, content]));
  for (const { name, content } of other.storages) contents.set(name, union(contents.get(name) ?? [], content));
  const kept = [...(one.reservations ?? []), ...(other.reservations ?? [])];
  const reservations = kept.filter(
    ({ mac, address }, at) => kept.findIndex((before) => before.mac === mac || before.address === address) === at,
  );
  return {
    ...one,
    hosts: union(one.hosts, other.hosts),
    storages: [...contents].map(([name, content]) => ({ name, content })),
    dhcp: one.dhcp || other.dhcp,
    ...(reservations.length > 0 && { reservations }),
  };
}

function has(given: LabProxmox | undefined, wanted: LabProxmox): boolean {
  if (given === undefined || !isSame(given, wanted)) return false;
  const storages = new Map(given.storages.map(({ name, content }) => [name, content]));
  return (
    (given.dhcp ?? false) >= wanted.dhcp &&
    wanted.hosts.every((host) => given.hosts.includes(host)) &&
    wanted.storages.every(({ name, content }) => content.every((kind) => storages.get(name)?.includes(kind)))
  );
}

function isAt({ address }: LabMachine): (other: LabMachine) => boolean {
  return (other) => other.address === address;
}

function union<T>(one: readonly T[], other: readonly T[]): T[] {
  return [...new Set([...one, ...other])];
}
