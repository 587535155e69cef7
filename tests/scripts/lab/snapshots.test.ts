import { describe, expect, test } from "@jest/globals";
import { labelSelector } from "../../../components/images/snapshotLabels.ts";
import { distinct, isAmong } from "../../../scripts/lab/snapshots.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { snapshotFor } from "../../../stacks/platforms/hetznerLab.ts";
import type { HetznerConfig } from "../../../stacks/platforms/hetznerRules.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

const config = (changes: Record<string, unknown> = {}) =>
  parseClusterConfig(
    Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("cloud")),
  ) as HetznerConfig;

describe("the snapshot in a lab's cloud for an environment", () => {
  test.each(["1.12.6", "1.13.8"])(
    "S0.1 is of its Talos, %s, with the labels that it is looked for by",
    (talosVersion) => {
      const kubernetesVersion = talosVersion.startsWith("1.12") ? "1.35.4" : "1.36.4";
      const snapshot = snapshotFor(config({ talosVersion, kubernetesVersion }));
      expect(snapshot).toMatchObject({ talos: talosVersion, arch: "amd64", customization: "customization: {}\n" });
      expect(labelSelector(snapshot.labels)).toBe(
        `architecture=amd64,os=talos,schematic=${snapshot.schematic.slice(0, 32)},schematic-rest=${snapshot.schematic.slice(32)},version=${talosVersion}`,
      );
    },
  );

  test("S0.1 has the customization of its schematic", () => {
    const { schematic, customization } = snapshotFor(
      config({ image: { extensions: ["siderolabs/qemu-guest-agent"] } }),
    );
    expect(schematic).toBe("ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515");
    expect(customization).toContain("siderolabs/qemu-guest-agent");
  });

  test("S0.1 has the environment's own labels, if there are any", () => {
    expect(snapshotFor(config({ "hetzner.snapshot": { labels: { mine: "yes" } } })).labels).toEqual({ mine: "yes" });
  });

  test("exists once, however many environments need it", () => {
    const [one, other] = [snapshotFor(config()), snapshotFor(config({ image: { kernelArgs: ["quiet"] } }))];
    expect(distinct([one, other, { ...one }])).toEqual([one, other]);
    expect(isAmong(one, [other, { ...one }])).toBe(true);
    expect(isAmong(one, [other])).toBe(false);
    expect(isAmong(one, [{ ...other, labels: one.labels }])).toBe(false);
  });
});
