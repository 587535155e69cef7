// The disks of an existing machine, of which `install` selects one.
import type { DiskChoice } from "../../components/talos/config/installDisk.ts";
import type { LabDisk } from "./labNeeds.ts";

type Selector = NonNullable<DiskChoice["diskSelector"]>;

const usual = 256;

/** The selected disk. */
export function disksFor({ disk, diskSelector }: DiskChoice): LabDisk[] {
  return [diskSelector === undefined ? device(disk ?? "/dev/sda") : selected(diskSelector)];
}

function device(path: string): LabDisk {
  return { device: path, gb: usual, transport: path.startsWith("/dev/nvme") ? "nvme" : "sata" };
}

function selected({ model, serial, wwid, busPath, type, size }: Selector): LabDisk {
  const path = type === "nvme" ? "/dev/nvme0n1" : type === "sd" ? "/dev/mmcblk0" : "/dev/sda";
  return {
    ...device(path),
    gb: size === undefined ? usual : gigabytes(size),
    ...(type === "sd" && { transport: "mmc" }),
    ...(type === "hdd" && { rotational: true }),
    ...(model !== undefined && { model: unpatterned(model) }),
    ...(serial !== undefined && { serial: unpatterned(serial) }),
    ...(wwid !== undefined && { wwid: unpatterned(wwid) }),
    ...(busPath !== undefined && { busPath: unpatterned(busPath) }),
  };
}

/** A value that matches a pattern: the pattern without its stars. */
function unpatterned(pattern: string): string {
  return pattern.replaceAll("*", "");
}

const powers = "KMGT";

/** A size that meets a condition. */
function gigabytes(asked: string): number {
  const [, comparison, count, unit = "B"] = /^(>=|<=|>|<|==)?\s*(\d+)\s?([KMGT]?i?B)$/.exec(asked) ?? [];
  const size = (Number(count) * (unit.includes("i") ? 1024 : 1000) ** (powers.indexOf(unit.charAt(0)) + 1)) / 1e9;
  if (comparison === ">") return size + 1;
  return comparison === "<" ? size / 2 : size;
}
