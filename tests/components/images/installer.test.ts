import { describe, expect, test } from "@jest/globals";
import { installerImage, talosPlatform } from "../../../components/images/installer.ts";

describe("Installer image (S2.3)", () => {
  test.each([
    ["hetzner", "dhcp", "hcloud"],
    ["proxmox", "dhcp", "metal"],
    ["proxmox", "meta", "metal"],
    ["proxmox", "nocloud", "nocloud"],
    ["existing", "dhcp", "metal"],
  ] as const)("%s with addresses by %s is Talos' platform %s", (platform, addressing, expected) => {
    expect(talosPlatform(platform, addressing)).toBe(expected);
  });

  test("the reference names factory, platform, schematic and version", () => {
    const args = { factory: "factory.talos.dev", schematicId: "ce4c", talosVersion: "1.12.6" };
    expect(installerImage({ ...args, platform: "metal", secureBoot: false })).toBe(
      "factory.talos.dev/metal-installer/ce4c:v1.12.6",
    );
    expect(installerImage({ ...args, platform: "nocloud", secureBoot: true, talosVersion: "v1.13.8" })).toBe(
      "factory.talos.dev/nocloud-installer-secureboot/ce4c:v1.13.8",
    );
  });
});
