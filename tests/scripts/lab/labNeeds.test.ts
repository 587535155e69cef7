import { describe, expect, test } from "@jest/globals";
import { matchingDisks } from "../../../components/talos/config/installDisk.ts";
import { allOf, missingIn } from "../../../scripts/lab/labNeeds.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { disksFor } from "../../../stacks/platforms/existingLabDisks.ts";
import type { ClusterConfig } from "../../../stacks/schema/clusterConfig.ts";
import { environment } from "../../lab/support/chainEnvironment.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

const needsOf = (config: ClusterConfig) => config.platform.lab.needs(config);
const home = (changes: Record<string, unknown> = {}) =>
  needsOf(
    parseClusterConfig(
      Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("home")),
    ),
  );
const rack = (config: Record<string, unknown> = {}) =>
  needsOf(parseClusterConfig({ ...environment({ platform: "existing", workers: 1 }), ...config }));

describe("what a lab contains for an environment", () => {
  test("S4.1 is its Proxmox, with hosts, storages and network", () => {
    expect(home({ "proxmox.hosts": ["pve", "pve2"], "proxmox.imageStorage": "images" })).toEqual({
      proxmox: {
        address: "10.0.0.2",
        port: 8006,
        hosts: ["pve", "pve2"],
        storages: [
          { name: "images", content: ["backup", "import", "iso", "vztmpl"] },
          { name: "local-lvm", content: ["images", "rootdir"] },
        ],
        network: "10.0.0.0/16",
        gateway: "10.0.0.1",
        dhcp: false,
      },
    });
  });

  test("S4.3 is a router with DHCP, and a reservation for each MAC", () => {
    const { proxmox } = home({ "network.addressing": "dhcp", "network.gateway": undefined });
    expect(proxmox).toMatchObject({ gateway: "10.0.0.1", dhcp: true });
    expect(proxmox?.reservations?.slice(0, 1)).toEqual([{ mac: "02:68:39:ad:f0:7c", address: "10.0.0.11" }]);
    expect(proxmox?.reservations).toHaveLength(5);
  });

  test("is one storage for all if there is only one", () => {
    expect(home({ "proxmox.imageStorage": "all", "proxmox.storage": "all" }).proxmox?.storages).toEqual([
      { name: "all", content: ["backup", "import", "iso", "vztmpl", "images", "rootdir"] },
    ]);
  });

  test("contains the existing machines, identified as in the file", () => {
    expect(rack().machines).toMatchObject([
      { name: "test-cp-1", address: "10.0.0.11/16", gateway: "10.0.0.1", dhcp: true, mac: "02:00:00:00:00:0b" },
      { name: "test-w-1", address: "10.0.0.21/16", talos: "1.13.8", uuid: "00000000-0000-4000-8000-000000000015" },
    ]);
  });

  test.each([
    { disk: "/dev/nvme0n1" },
    {},
    { diskSelector: { type: "nvme", size: "> 500GB" } },
    { diskSelector: { type: "hdd", size: "== 100GiB", model: "WDC*" } },
    { diskSelector: { type: "ssd", size: "< 1TB", serial: "S1" } },
    { diskSelector: { type: "sd", busPath: "/pci0000:00/*", wwid: "naa.5000" } },
    { diskSelector: { size: "<= 64GB" } },
  ] as const)("S1.1 is a machine with the disk that fits %j", (choice) => {
    const disks = disksFor(choice).map(({ device, gb, busPath, ...disk }) => ({
      ...disk,
      ...{ dev_path: device, size: Math.round(gb * 1e9), pretty_size: "" },
      ...(busPath !== undefined && { bus_path: busPath }),
    }));
    expect(matchingDisks(choice, disks)).toHaveLength(1);
  });
});

describe("a lab for several environments", () => {
  test("contains what each needs", () => {
    const all = allOf([home(), home({ "proxmox.hosts": ["pve2"], "proxmox.storage": "fast" }), rack(), {}]);
    for (const one of [home(), home({ "proxmox.hosts": ["pve2"] })]) expect(missingIn(all, one)).toBeUndefined();
    expect(all.machines).toEqual(rack().machines);
    expect(all.proxmox?.hosts).toEqual(["pve", "pve2"]);
    expect(missingIn(allOf([]), {})).toBeUndefined();
  });

  test("contains the first if they name different Proxmox clusters, or different machines at an address", () => {
    const other = home({ "proxmox.endpoint": "https://10.0.0.3:8006" });
    expect(missingIn(allOf([home(), other]), other)).toBe(
      "Proxmox at 10.0.0.3:8006 with host pve and storage local, local-lvm",
    );
    expect(allOf([rack(), rack({ clusterName: "other" })]).machines).toEqual(rack().machines);
  });

  test("is missing a host, a storage or DHCP that another environment does not need", () => {
    for (const change of [
      { "proxmox.hosts": ["pve2"] },
      { "proxmox.storage": "fast" },
      { "network.addressing": "dhcp" },
    ]) {
      expect(missingIn(home(), home(change))).toMatch(/^Proxmox at 10\.0\.0\.2:8006 /);
    }
  });
});
