import { describe, expect, test } from "@jest/globals";
import { installPatches } from "../../../../../components/talos/config/patches/install.ts";
import { documentVersions, machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const guestAgent = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
/** The schematic of a VM without META in its image: net.ifnames=0 names its NIC. */
const plain = "6905bc709e5947573a4ec2d11723b58882936d3d0e15c708f7d78f0c689684a5";

function install(version: string, config: Readonly<Record<string, unknown>>, changes = {}) {
  const input = machineInput(version, config);
  return installPatches(input, machineNode(input, "cp-1", changes));
}

describe.each(talosVersions)("the install patch (S0.4, S2.3) on Talos %s", (version) => {
  const image = `factory.talos.dev/metal-installer/${plain}:v${version}`;

  test("installs to /dev/sda without wiping by default, from the installer of the schematic", () => {
    expect(install(version, {})).toStrictEqual([{ machine: { install: { disk: "/dev/sda", image, wipe: false } } }]);
  });

  test("names an installer with factory, platform, extensions and Secure Boot [C19]", () => {
    const config = {
      platform: "hetzner",
      image: { factory: "factory.example", extensions: ["siderolabs/qemu-guest-agent"], secureBoot: true },
      install: { wipe: true },
    };
    expect(install(version, config)).toStrictEqual([
      {
        machine: {
          install: {
            disk: "/dev/sda",
            image: `factory.example/hcloud-installer-secureboot/${guestAgent}:v${version}`,
            wipe: true,
          },
        },
      },
    ]);
  });

  test("has a disk selector instead of the disk", () => {
    expect(install(version, { install: { diskSelector: { size: ">= 100GB", type: "nvme" } } })).toStrictEqual([
      {
        machine: {
          install: {
            disk: { $patch: "delete" },
            diskSelector: { type: "nvme", size: ">= 100GB" },
            image,
            wipe: false,
          },
        },
      },
    ]);
  });

  test("prefers the node's own disk to the cluster's disk selector", () => {
    const config = { install: { diskSelector: { type: "nvme" } } };
    expect(install(version, config, { install: { disk: "/dev/vda" } })).toStrictEqual([
      { machine: { install: { disk: "/dev/vda", image, wipe: false } } },
    ]);
  });
});

describe("the boot command line (S2.3)", () => {
  test.each(documentVersions)("has kernel arguments only with the older command line on Talos %s", (version) => {
    const config = { install: { extraKernelArgs: ["quiet"], grubUseUKICmdline: false } };
    expect(install(version, config)).toStrictEqual([
      {
        machine: {
          install: {
            disk: "/dev/sda",
            image: `factory.talos.dev/metal-installer/${plain}:v${version}`,
            wipe: false,
            extraKernelArgs: ["quiet"],
            grubUseUKICmdline: false,
          },
        },
      },
    ]);
  });

  test("has no grubUseUKICmdline on Talos 1.11: off is what it does, on is refused", () => {
    expect(install("1.11.6", { install: { extraKernelArgs: ["quiet"], grubUseUKICmdline: false } })).toStrictEqual([
      {
        machine: {
          install: {
            disk: "/dev/sda",
            image: `factory.talos.dev/metal-installer/${plain}:v1.11.6`,
            wipe: false,
            extraKernelArgs: ["quiet"],
          },
        },
      },
    ]);
    expect(() => install("1.11.6", { install: { grubUseUKICmdline: true } })).toThrow(
      "install.grubUseUKICmdline: Talos 1.11.6 does not have it: leave it out, or use 1.12 or later",
    );
  });
});
