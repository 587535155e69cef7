// What labs must contain for the environments on them.
import type { LabMachine, LabNeeds, LabProxmox } from "../../stacks/platforms/labNeeds.ts";
import { distinct, isAmong } from "./snapshots.ts";

/** Merges the needs of all environments. A lab has one Proxmox, and one machine per address: if environments differ, the first counts. */
export function allOf(platforms: readonly LabNeeds[]): LabNeeds {
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

/** What a lab does not contain, as text; undefined if nothing is missing. */
export function missingIn(given: LabNeeds, { snapshots = [], proxmox }: LabNeeds): string | undefined {
  const snapshot = snapshots.find((one) => !isAmong(one, given.snapshots ?? []));
  if (snapshot !== undefined) return `snapshot '${snapshot.description}'`;
  return proxmox !== undefined && !has(given.proxmox, proxmox) ? described(proxmox) : undefined;
}

function described({ address, port, hosts, storages }: LabProxmox): string {
  return `Proxmox at ${address}:${port} with host ${hosts.join(", ")} and storage ${storages.map(({ name }) => name).join(", ")}`;
}

/** Two environments on one Proxmox each name only what they need. */
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
