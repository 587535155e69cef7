import { describe, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { proxmoxFor } from "../../../stacks/platforms/proxmoxLab.ts";
import type { ProxmoxConfig } from "../../../stacks/platforms/proxmoxRules.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

const storages = (changes: Record<string, unknown>) => {
  const raw = Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("home"));
  const config = parseClusterConfig(raw) as ProxmoxConfig;
  return Object.fromEntries(proxmoxFor(config).storages.map(({ name, content }) => [name, content]));
};
const files = ["backup", "import", "iso", "vztmpl"];
const disks = ["images", "rootdir"];

describe("the storages that a lab's Proxmox has for an environment", () => {
  test.each<[string, Record<string, unknown>, Record<string, string[]>]>([
    ["one for images and one for disks", {}, { local: files, "local-lvm": disks }],
    ["one for all", { "proxmox.storage": "local" }, { local: [...files, ...disks] }],
    [
      "one more for volumes",
      { "proxmox.volumes": { storage: "fast" } },
      { local: files, "local-lvm": disks, fast: disks },
    ],
  ])("S4.1 the storages of the simulated Proxmox are: %s", (_, changes, expected) => {
    expect(storages(changes)).toEqual(expected);
  });
});
