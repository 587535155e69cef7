import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { placeOf } from "../../../../components/talos/config/configSummary.ts";
import rules from "../../../../components/talos/config/rebootRules.json" with { type: "json" };
import { rebootChanges } from "../../../../components/talos/config/rebootRules.ts";

/** A config with every field that Talos compares, with this value. */
function whole(value: unknown): Record<string, unknown> {
  const machine = [...now, ...later].filter((path) => path.startsWith("machine.")).map((path) => path.split("."));
  const config: Record<string, unknown> = { version: "v1alpha1", persist: value, debug: value, cluster: value };
  for (const path of machine) set(config, path, value);
  return config;
}

const now = rules.immediate;
const later = [
  "persist",
  "machine.type",
  "machine.token",
  "machine.disks",
  "machine.files",
  "machine.env",
  "machine.udev",
  "machine.systemDiskEncryption",
  "machine.baseRuntimeSpecOverrides",
  "machine.features.rbac",
  "machine.features.diskQuotaSupport",
];

describe("what a node must reboot for", () => {
  test.each(now)("not %s", (path) => {
    expect(rebootChanges(stringify(whole("a")), stringify(changed(path)))).toEqual([]);
  });

  test.each(later)("%s", (path) => {
    const changes = rebootChanges(stringify(whole("a")), stringify(changed(path)));
    expect(changes.map(placeOf)).toEqual([path]);
  });

  test("no document with a kind", () => {
    const document = stringify({ apiVersion: "v1alpha1", kind: "LinkConfig", name: "lo" });
    expect(rebootChanges(stringify(whole("a")), `${stringify(whole("a"))}---\n${document}`)).toEqual([]);
  });

  test.each([
    ["1.13.8", ["machine.udev"]],
    ["1.14.1", []],
    ["1.15.0", []],
  ])("on Talos %s", (version, expected) => {
    const config = (udev: string) =>
      stringify({
        version: "v1alpha1",
        machine: { udev, install: { image: `factory.example/metal-installer/${"0".repeat(64)}:v${version}` } },
      });
    expect(rebootChanges(config("a"), config("b")).map(placeOf)).toEqual(expected);
  });

  test("features of any kind if there were none: Talos treats the complete block as a change", () => {
    const features = stringify({ version: "v1alpha1", machine: { features: { hostDNS: { enabled: true } } } });
    const without = stringify({ version: "v1alpha1", machine: {} });
    expect(rebootChanges(without, features).map(placeOf)).toEqual(["machine.features.hostDNS.enabled"]);
    expect(rebootChanges(features, without).map(placeOf)).toEqual(["machine.features.hostDNS.enabled"]);
  });
});

function changed(path: string): Record<string, unknown> {
  const config = whole("a");
  set(config, path.split("."), "b");
  return config;
}

function set(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  target[key] ??= {};
  set(target[key] as Record<string, unknown>, rest, value);
}
