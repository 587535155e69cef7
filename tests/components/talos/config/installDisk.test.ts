import { describe, expect, test } from "@jest/globals";
import {
  type Disk,
  type DiskChoice,
  describeChoice,
  describeDisk,
  matchingDisks,
} from "../../../../components/talos/config/installDisk.ts";

const sda: Disk = {
  dev_path: "/dev/sda",
  size: 80_000_000_000,
  pretty_size: "80 GB",
  model: "QEMU HARDDISK",
  serial: "56446851",
  bus_path: "/pci0000:00/0000:00:02.5/0000:06:00.0/virtio5/host0/target0:0:0/0:0:0:0",
  transport: "virtio",
  rotational: true,
  symlinks: ["/dev/disk/by-id/scsi-0QEMU_HARDDISK_56446851"],
};
const nvme: Disk = {
  dev_path: "/dev/nvme0n1",
  size: 1024 ** 4,
  pretty_size: "1.1 TB",
  model: "Samsung SSD 990",
  wwid: "eui.0025",
  transport: "nvme",
};
const mapper: Disk = { dev_path: "/dev/dm-0", size: 80_000_000_000, pretty_size: "80 GB" };
const cdrom: Disk = {
  dev_path: "/dev/sr0",
  size: 1,
  pretty_size: "1 B",
  transport: "ata",
  cdrom: true,
  readonly: true,
};

function matching(choice: DiskChoice): readonly string[] {
  return matchingDisks(choice, [sda, nvme, mapper, cdrom]).map(({ dev_path }) => dev_path);
}

describe("the install disk (S1.1)", () => {
  test("is a device by its name, by a link to it, or the default", () => {
    expect(matching({ disk: "/dev/nvme0n1" })).toStrictEqual(["/dev/nvme0n1"]);
    expect(matching({ disk: "/dev/disk/by-id/scsi-0QEMU_HARDDISK_56446851" })).toStrictEqual(["/dev/sda"]);
    expect(matching({})).toStrictEqual(["/dev/sda"]);
    expect(matching({ disk: "/dev/vda" })).toStrictEqual([]);
  });

  test.each<[NonNullable<DiskChoice["diskSelector"]>, readonly string[]]>([
    [{ model: "QEMU*" }, ["/dev/sda"]],
    [{ model: "QEMU HARDDIS?" }, []],
    [{ model: "qemu*" }, []],
    [{ serial: "56446851" }, ["/dev/sda"]],
    [{ wwid: "eui.*" }, ["/dev/nvme0n1"]],
    [{ wwid: "euix*" }, []],
    [{ busPath: "/pci0000:00/*" }, ["/dev/sda"]],
    [{ type: "hdd" }, ["/dev/sda"]],
    [{ type: "ssd" }, ["/dev/nvme0n1"]],
    [{ type: "nvme" }, ["/dev/nvme0n1"]],
    [{ type: "sd" }, []],
    [{ size: "80GB" }, ["/dev/sda"]],
    [{ size: "== 1TiB" }, ["/dev/nvme0n1"]],
    [{ size: ">= 80 GB" }, ["/dev/sda", "/dev/nvme0n1"]],
    [{ size: "> 80GB" }, ["/dev/nvme0n1"]],
    [{ size: "<= 80GB" }, ["/dev/sda"]],
    [{ size: "< 1TiB" }, ["/dev/sda"]],
    [{ size: ">= 100GB", model: "QEMU*" }, []],
    [{ size: ">= 1B" }, ["/dev/sda", "/dev/nvme0n1"]],
  ])("is matched by the selector %j", (diskSelector, expected) => {
    expect(matching({ diskSelector })).toStrictEqual(expected);
  });

  test("S1.7(2) is named in messages with what was configured and what exists", () => {
    expect(describeChoice({ diskSelector: { model: "QEMU*", size: ">= 100GB" } })).toBe(
      "model 'QEMU*' and size '>= 100GB'",
    );
    expect(describeChoice({})).toBe("/dev/sda");
    expect(describeDisk(nvme)).toBe(
      "/dev/nvme0n1 (1.1 TB, model 'Samsung SSD 990', wwid 'eui.0025', transport 'nvme', ssd)",
    );
    expect(describeDisk(mapper)).toBe("/dev/dm-0 (80 GB, no transport)");
  });
});
