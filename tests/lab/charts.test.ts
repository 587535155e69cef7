// The charts in the folder from which an environment on a lab installs them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../../scripts/base/paths.ts";
import { stageCharts } from "../../scripts/lab/charts.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { programPaths } from "../../scripts/lab/programs.ts";
import { entryFolder } from "../../scripts/toolchain/entry.ts";
import { charts } from "../../scripts/toolchain/labTools.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { hetzner as hetznerPlatform } from "../../stacks/platforms/hetzner.ts";
import { proxmox as proxmoxPlatform } from "../../stacks/platforms/proxmox.ts";
import { settingsPath } from "../support/cli.ts";

jest.setTimeout(120_000);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
}

const place = join(root, labCharts);
const { helm = "", kubectl = "" } = programPaths();
beforeAll(stageCharts);

describe("charts for the lab", () => {
  test("U1 are those that the dev environment uses, in its versions", () => {
    const { config } = readClusterConfigFile(settingsPath("dev"));
    const { cilium, csi, flux, hetzner, sealedSecrets } = config;
    const asked = {
      cilium: cilium.version,
      "hcloud-cloud-controller-manager": hetzner?.cloudControllerManager.version,
      "hcloud-csi": csi.version ?? hetznerPlatform.volumes.version,
      "proxmox-csi-plugin": proxmoxPlatform.volumes.version,
      "sealed-secrets": sealedSecrets.version,
      flux2: flux.version,
    };
    const there = Object.keys(asked).map((name) => {
      const chart = parse(readFileSync(join(place, name, "Chart.yaml"), "utf8"), { schema: "failsafe" });
      return [name, chart.version];
    });
    expect(Object.fromEntries(there)).toEqual(asked);
  });

  test("are restored when they were removed, and otherwise left unchanged", async () => {
    const folder = readlinkSync(place);
    rmSync(place);
    await stageCharts();
    expect(readlinkSync(place)).toBe(folder);
    const before = readFileSync(join(place, "flux2", "Chart.yaml"));
    await Promise.all([stageCharts(), stageCharts()]);
    expect(readFileSync(join(place, "flux2", "Chart.yaml"))).toEqual(before);
    expect(existsSync(join(place, "flux2", "manifests", "rbac.yaml"))).toBe(true);
  });
});

describe("the lab's chart of Flux", () => {
  test("S4.1 renders what kustomize builds from the same manifests, except the namespace", () => {
    const made = rendered();
    const expected = said(kubectl, "kustomize", join(entryFolder(charts), "flux"));
    const official = byName(expected);
    official.delete("Namespace/flux-system");
    expect([...made.keys()].sort()).toEqual([...official.keys()].sort());
    for (const [name, manifest] of official) expect([name, made.get(name)]).toEqual([name, manifest]);
  });

  test("S4.1 names its Flux version", () => {
    const { version, appVersion } = parse(readFileSync(join(place, "flux2", "Chart.yaml"), "utf8"));
    const { labels } = parse(readFileSync(join(place, "flux2", "manifests", "kustomization.yaml"), "utf8"));
    expect([version, appVersion]).toEqual([version, version]);
    expect(labels[0].pairs["app.kubernetes.io/version"]).toBe(`v${version}`);
  });

  test("S4.1 leaves the CustomResourceDefinitions in the cluster when it is uninstalled", () => {
    const keep = "crds.annotations.helm\\.sh/resource-policy=keep";
    const definitions = [...rendered("--set", keep).values()].filter(({ kind }) => kind === "CustomResourceDefinition");
    expect(definitions.length).toBeGreaterThan(8);
    for (const { metadata } of definitions) {
      expect(metadata.annotations).toMatchObject({ "helm.sh/resource-policy": "keep" });
      expect(Object.keys(metadata.annotations ?? {}).length).toBeGreaterThan(1); // its own stay
    }
  });

  test("has the configured controllers, and refuses those that it does not have", () => {
    const names = [...rendered("--set", "notificationController.create=false").keys()];
    expect(names.filter((name) => name.startsWith("Deployment/")).sort()).toEqual(
      ["helm", "kustomize", "source"].map((name) => `Deployment/${name}-controller`),
    );
    const refused = template("--set", "imageReflectionController.create=true");
    expect(refused.stderr).toContain("imageReflectionController.create: the lab's chart of Flux does not have it");
  });
});

function template(...options: readonly string[]) {
  const args = ["template", "flux", join(place, "flux2"), "--namespace", "flux-system", ...options];
  return spawnSync(helm, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function rendered(...options: readonly string[]): Map<string, Manifest> {
  const { status, stdout, stderr } = template(...options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return byName(stdout);
}

function said(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** Helm puts objects without a namespace into the release's. */
function byName(text: string): Map<string, Manifest> {
  const manifests: Manifest[] = parseAllDocuments(text).flatMap((document) => document.toJS() ?? []);
  return new Map(
    manifests.map(({ metadata, ...rest }) => {
      const { namespace: _namespace, ...named } = metadata;
      return [`${rest.kind}/${metadata.name}`, { ...rest, metadata: named }];
    }),
  );
}
