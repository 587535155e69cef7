// Which disk of a machine Talos would install to. Mirrors DiskMatchExpression of its v1alpha1 config, so that a mistake is found before the config is sent.
import type { InstallSettings } from "../../model/settings/image.ts";

/** A device, or its properties; with neither it is the default device. */
export type DiskChoice = Pick<InstallSettings, "disk" | "diskSelector">;
type DiskSelector = NonNullable<DiskChoice["diskSelector"]>;

/** The node's own choice, in either form, comes before the cluster's. */
export function diskChoice(cluster: DiskChoice, own: DiskChoice | undefined): DiskChoice {
  return own?.disk !== undefined || own?.diskSelector !== undefined ? own : cluster;
}

/** A disk as a node reports it. */
export interface Disk {
  readonly dev_path: string;
  readonly size: number;
  readonly pretty_size: string;
  readonly model?: string;
  readonly serial?: string;
  readonly wwid?: string;
  readonly bus_path?: string;
  readonly transport?: string;
  readonly rotational?: boolean;
  readonly readonly?: boolean;
  readonly cdrom?: boolean;
  readonly symlinks?: readonly string[];
}

/** The disks to choose from: on a loop device there is nothing but Talos' own file system. */
export function machineDisks(disks: readonly Disk[]): readonly Disk[] {
  return disks.filter(({ dev_path }) => !dev_path.startsWith("/dev/loop"));
}

/** All disks that match the choice; exactly one is correct. */
export function matchingDisks(choice: DiskChoice, disks: readonly Disk[]): readonly Disk[] {
  const { diskSelector } = choice;
  if (diskSelector !== undefined) return disks.filter((disk) => fits(diskSelector, disk));
  const device = choice.disk ?? "/dev/sda";
  return disks.filter(({ dev_path, symlinks = [] }) => dev_path === device || symlinks.includes(device));
}

/** The choice, for a message. */
export function describeChoice({ disk, diskSelector }: DiskChoice): string {
  if (diskSelector === undefined) return disk ?? "/dev/sda";
  return Object.entries(diskSelector)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} '${value}'`)
    .join(" and ");
}

/** A disk with everything that a selector can match, for a message. */
export function describeDisk({ dev_path, pretty_size, ...disk }: Disk): string {
  const known: readonly (readonly [string, string | undefined])[] = [
    ["model", disk.model],
    ["serial", disk.serial],
    ["wwid", disk.wwid],
    ["busPath", disk.bus_path],
    ["transport", disk.transport],
  ];
  const named = known.filter(([, value]) => value).map(([name, value]) => `${name} '${value}'`);
  const why = unusable(disk) ?? (disk.rotational ? "hdd" : "ssd");
  return `${dev_path} (${[pretty_size, ...named, why].join(", ")})`;
}

function fits({ model, serial, wwid, busPath, type, size }: DiskSelector, disk: Disk): boolean {
  const patterns = [
    [model, disk.model],
    [serial, disk.serial],
    [wwid, disk.wwid],
    [busPath, disk.bus_path],
  ] as const;
  return (
    unusable(disk) === undefined &&
    patterns.every(([pattern, value]) => pattern === undefined || glob(pattern).test(value ?? "")) &&
    (type === undefined || isOfType(type, disk)) &&
    (size === undefined || isOfSize(size, disk.size))
  );
}

/** Talos never selects such a disk. */
function unusable({ transport, readonly, cdrom }: Omit<Disk, "dev_path" | "pretty_size">): string | undefined {
  if (cdrom) return "CD-ROM";
  if (readonly) return "read-only";
  return transport ? undefined : "no transport";
}

function isOfType(type: NonNullable<DiskSelector["type"]>, { transport, rotational = false }: Disk): boolean {
  switch (type) {
    case "hdd":
      return rotational;
    case "ssd":
      return !rotational;
    case "nvme":
      return transport === "nvme";
    case "sd":
      return transport === "mmc";
  }
}

const powers = "KMGT";

/** A size, or a comparison with one: `>= 100GB`. Without an operator it must be exactly that size. */
function isOfSize(condition: string, actual: number): boolean {
  const [, operator = "==", number, unit = "B"] =
    /^(>=|<=|>|<|==)?\s*(\d+)\s?([KMGT]?i?B)$/.exec(condition.trim()) ?? [];
  const power = powers.indexOf(unit.charAt(0)) + 1;
  const wanted = Number(number) * (unit.includes("i") ? 1024 : 1000) ** power;
  switch (operator) {
    case ">=":
      return actual >= wanted;
    case "<=":
      return actual <= wanted;
    case ">":
      return actual > wanted;
    case "<":
      return actual < wanted;
    default:
      return actual === wanted;
  }
}

/** `*` matches anything, and nothing else is special, as in Talos. */
function glob(pattern: string): RegExp {
  const source = pattern.replace(/[.+^${}()|[\]\\?]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${source}$`, "s");
}
