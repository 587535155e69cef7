import { describe, expect, test } from "@jest/globals";
import { proxmoxFor } from "../../../scripts/lab/proxmoxFor.ts";
import { parseClusterConfig } from "../../../stacks/config.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

const storages = (changes: Record<string, unknown>) => {
  const raw = Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("home"));
  return Object.fromEntries(proxmoxFor(parseClusterConfig(raw)).storages.map(({ name, content }) => [name, content]));
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
  ])("S4.1 %s", (_, changes, expected) => {
    expect(storages(changes)).toEqual(expected);
  });
});
