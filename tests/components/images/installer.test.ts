import { describe, expect, test } from "@jest/globals";
import { installerImage } from "../../../components/images/installer.ts";
import { existingPlatform } from "../../../components/machines/existing/existingPlatform.ts";
import { hetznerPlatform } from "../../../components/machines/hetzner/hetznerPlatform.ts";
import { proxmoxPlatform } from "../../../components/machines/proxmox/proxmoxPlatform.ts";
import type { Addressing, PlatformTraits } from "../../../components/model/platformTraits.ts";

describe("the installer image (S2.3)", () => {
  test.each<[PlatformTraits, Addressing, string]>([
    [hetznerPlatform, "dhcp", "hcloud"],
    [proxmoxPlatform, "dhcp", "metal"],
    [proxmoxPlatform, "meta", "metal"],
    [proxmoxPlatform, "nocloud", "nocloud"],
    [existingPlatform, "dhcp", "metal"],
  ])("of $name with addresses by %s is for Talos' platform %s", (platform, addressing, expected) => {
    expect(platform.talosPlatform(addressing)).toBe(expected);
  });

  test("is named with factory, platform, schematic and version", () => {
    const args = { factory: "factory.talos.dev", schematicId: "ce4c", talosVersion: "1.12.6" };
    expect(installerImage({ ...args, platform: "metal", secureBoot: false })).toBe(
      "factory.talos.dev/metal-installer/ce4c:v1.12.6",
    );
    expect(installerImage({ ...args, platform: "nocloud", secureBoot: true, talosVersion: "v1.13.8" })).toBe(
      "factory.talos.dev/nocloud-installer-secureboot/ce4c:v1.13.8",
    );
  });
});
