// renovate.json finds the versions in environments. Renovate itself is not started: it needs a network.
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import semver from "semver";
import { parse, stringify } from "yaml";
import { versionFaults } from "../../components/talos/config/versions.ts";
import { listSettings } from "../../scripts/tools/settings/listSettings.ts";

interface Manager {
  readonly description: string;
  readonly managerFilePatterns: readonly string[];
  readonly matchStringsStrategy?: "recursive";
  readonly matchStrings: readonly string[];
  readonly depNameTemplate: string;
  readonly extractVersionTemplate: string;
}

const text = readFileSync("renovate.json", "utf8");
const { customManagers, packageRules, ignorePaths, enabledManagers } = JSON.parse(text) as {
  readonly customManagers: readonly Manager[];
  readonly packageRules: readonly { readonly matchDepNames: readonly string[]; readonly allowedVersions: string }[];
  readonly ignorePaths: readonly string[];
  readonly enabledManagers: readonly string[];
};

/** The keys with versions, as Renovate finds them, by what they are versions of. */
function found(environment: string): Readonly<Record<string, readonly string[]>> {
  const values = customManagers.map((manager) => [manager.depNameTemplate, versionsIn(environment, manager)] as const);
  return Object.fromEntries(values.filter(([, versions]) => versions.length > 0));
}

/** As Renovate: with "recursive" each expression searches what the one before it has matched. */
function versionsIn(environment: string, { matchStrings, matchStringsStrategy }: Manager): readonly string[] {
  const search = (texts: readonly string[], expression: string) =>
    texts.flatMap((one) => [...one.matchAll(new RegExp(expression, "g"))]);
  if (matchStringsStrategy === undefined) return matchStrings.flatMap((one) => search([environment], one)).map(value);
  const [last = "", ...before] = [...matchStrings].reverse();
  const inside = before.reduceRight<readonly string[]>(
    (texts, one) => search(texts, one).map(([match]) => match),
    [environment],
  );
  return search(inside, last).map(value);
}

const value = ({ groups }: RegExpMatchArray) => groups?.currentValue ?? "";

/** Every key of a kind that has a version, with another version each. */
const versions = {
  "siderolabs/talos": "1.13.8",
  "kubernetes/kubernetes": "1.36.4",
  "cilium/cilium": "1.18.8",
  "fluxcd-community/helm-charts": "2.19.0",
  "bitnami/sealed-secrets": "2.19.3",
  "kube-vip/kube-vip": "1.0.3",
  "hetznercloud/hcloud-cloud-controller-manager": "1.25.1",
  "hetznercloud/csi-driver": "2.19.1",
};
const everyKey = {
  config: {
    "sluice:clusterName": "all",
    "sluice:talosVersion": versions["siderolabs/talos"],
    "sluice:configContract": "v1.13",
    "sluice:kubernetesVersion": versions["kubernetes/kubernetes"],
    "sluice:cilium": { values: { hubble: { version: "9.9.9" } }, version: versions["cilium/cilium"], probe: true },
    "sluice:flux": { url: "https://git.example/home.git", version: versions["fluxcd-community/helm-charts"] },
    "sluice:sealedSecrets": { version: versions["bitnami/sealed-secrets"] },
    "sluice:kubeVip": { interface: "eth0", version: versions["kube-vip/kube-vip"] },
    "sluice:hetzner": {
      networkCidr: "10.0.0.0/16",
      cloudControllerManager: { enabled: true, version: versions["hetznercloud/hcloud-cloud-controller-manager"] },
      loadBalancer: { address: "10.0.1.5" },
    },
    "sluice:csi": { version: versions["hetznercloud/csi-driver"] },
    "sluice:platform": "hetzner",
  },
};

describe("renovate.json", () => {
  test("knows every key of an environment that is a version, except the contract, which is raised on purpose only", () => {
    const keys = listSettings()
      .map(({ key }) => key)
      .filter((key) => /version$/i.test(key));
    expect(customManagers.map(({ description }) => description.replace(" at Hetzner", "")).sort()).toEqual(keys.sort());
  });

  test("finds the versions in an environment that sets all of them", () => {
    const expected = Object.fromEntries(Object.entries(versions).map(([dep, version]) => [dep, [version]]));
    expect(found(stringify(everyKey))).toEqual(expected);
  });

  test("finds the versions in maps that are written on one line", () => {
    const keys = Object.entries(everyKey.config).map(([key, of]) => [
      key,
      typeof of === "object" && key !== "sluice:hetzner" ? { version: "1.2.3" } : of,
    ]);
    const flow = stringify({ config: Object.fromEntries(keys) }).replaceAll(
      /(sluice:\w+):\n {4}version: (\S+)$/gm,
      "$1: { probe: true, version: $2 } # why",
    );
    expect(flow).toContain("sluice:cilium: { probe: true, version: 1.2.3 } # why");
    for (const dep of ["cilium/cilium", "bitnami/sealed-secrets", "hetznercloud/csi-driver", "kube-vip/kube-vip"]) {
      expect(found(flow)[dep]).toEqual(["1.2.3"]);
    }
  });

  test("finds versions behind comments and blank lines, and none in comments", () => {
    const environment = [
      "config:",
      "  # sluice:talosVersion: 1.11.0",
      "  sluice:talosVersion: v1.13.8 # the newest",
      "  sluice:kubernetesVersion: '1.36.4'",
      "  sluice:cilium: # the network",
      "",
      "    # version: 1.17.0",
      "    version: 1.18.8",
      "  sluice:flux:",
      "    url: https://git.example/home.git",
      "  sluice:sealedSecrets:",
      "    version: 2.19.3",
    ].join("\n");
    expect(found(environment)).toEqual({
      "siderolabs/talos": ["1.13.8"],
      "kubernetes/kubernetes": ["1.36.4"],
      "cilium/cilium": ["1.18.8"],
      "bitnami/sealed-secrets": ["2.19.3"],
    });
  });

  test("does not treat the driver for volumes on Proxmox as Hetzner's, whichever key comes first", () => {
    const proxmox = { config: { ...everyKey.config, "sluice:platform": "proxmox" } };
    expect(found(stringify(proxmox))["hetznercloud/csi-driver"]).toBeUndefined();
  });

  test("finds in the shipped environments what YAML says they have", () => {
    const files = globSync("Pulumi.*.yaml");
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      expect(customManagers.every(({ managerFilePatterns: [pattern = ""] }) => matches(pattern, file))).toBe(true);
      const environment = readFileSync(file, "utf8");
      const { config } = parse(environment, { schema: "failsafe" }) as { config: Readonly<Record<string, string>> };
      const { "siderolabs/talos": talos, "kubernetes/kubernetes": kubernetes } = found(environment);
      expect([talos, kubernetes]).toEqual([[config["sluice:talosVersion"]], [config["sluice:kubernetesVersion"]]]);
    }
  });

  test("leaves environments on a lab alone: the lab simulates the versions that they name", () => {
    const onLab = globSync("Pulumi.*.yaml").filter((file) => /^ {2}sluice:lab:/m.test(readFileSync(file, "utf8")));
    expect(ignorePaths).toEqual(onLab);
  });

  test("proposes versions up to the newest that Sluice knows, and no further", () => {
    const allowed = (dep: string) =>
      packageRules.find(({ matchDepNames }) => matchDepNames.includes(dep))?.allowedVersions ?? "";
    const minors = Array.from({ length: 60 }, (_, minor) => minor);
    const talos = minors.filter((minor) => minors.some((other) => isSupported(minor, other)));
    const kubernetes = minors.filter((minor) => minors.some((other) => isSupported(other, minor)));
    expect(allowed("siderolabs/talos")).toBe(`<1.${Math.max(...talos) + 1}.0`);
    expect(allowed("kubernetes/kubernetes")).toBe(`<1.${Math.max(...kubernetes) + 1}.0`);
  });

  test("reads the versions out of the tags that the projects use", () => {
    const tags = ["v1.13.8", "flux2-2.19.0", "helm-v2.19.3"];
    const read = customManagers.map(({ extractVersionTemplate }) =>
      tags
        .map((tag) => new RegExp(extractVersionTemplate).exec(tag)?.groups?.version)
        .filter((one) => semver.valid(one)),
    );
    expect(read.every((one) => one.length === 1)).toBe(true);
  });

  test("uses only what RE2 knows, and no manager but its own", () => {
    const expressions = customManagers.flatMap(({ matchStrings }) => matchStrings);
    expect(expressions.filter((one) => /\(\?<?[=!]|\\[1-9]/.test(one))).toEqual([]);
    expect(enabledManagers).toEqual(["custom.regex"]);
  });
});

function matches(pattern: string, file: string): boolean {
  return new RegExp(pattern.slice(1, -1)).test(file);
}

function isSupported(talos: number, kubernetes: number): boolean {
  return versionFaults(`1.${talos}.0`, `1.${kubernetes}.0`).length === 0;
}
