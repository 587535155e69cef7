// One server with Talos 1.14, whose machine config has the contract of 1.13, and another version of Cilium on it.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(300_000);

const off = { enabled: false };

describe("S8.2 one server with Talos 1.14", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ talos: "1.14.1", config: { csi: off, flux: off, sealedSecrets: off } });
  });
  afterAll(() => chain?.down());

  test("becomes a cluster, with the newest Kubernetes that the lab serves", async () => {
    await chain.up();
    const { items } = JSON.parse(await chain.kubectl("get", "nodes", "--output", "json"));
    const [{ status }] = items;
    expect([items.length, status.nodeInfo.osImage, status.nodeInfo.kubeletVersion]).toEqual([
      1,
      "Talos (v1.14.1)",
      "v1.36.4",
    ]);
  });

  test("is not rebooted for a change that Talos 1.13 reboots for, and the preview says so", async () => {
    const since = chain.lab.facts.all.length;
    chain.configure({
      patches: [{ name: "disks", patch: { machine: { udev: { rules: ['SUBSYSTEM=="block", MODE="0660"'] } } } }],
    });
    const preview = await chain.run("preview");
    expect(preview.code).toBe(0);
    expect(preview.stdout).toMatch(/cp-1: \d changes? of the machine config, without a reboot/);
    await chain.up();
    const after = chain.lab.facts.all.slice(since);
    expect(after).toContainEqual(expect.objectContaining({ what: "config", value: "applied" }));
    expect(after.filter(({ what }) => what === "stage")).toEqual([]);
    expect((await chain.up()).steps).toEqual([]);
  });

  test("gets the next minor version of Cilium through its gate, and is refused a later one before anything is changed (S8.3)", async () => {
    const path = join(chain.lab.files, "charts");
    cpSync(join(root, labCharts), path, { recursive: true, dereference: true });
    const file = join(path, "cilium/Chart.yaml");
    const chart = readFileSync(file, "utf8");
    const configure = (version: string) => {
      writeFileSync(file, chart.replace(/^version: .*$/m, `version: ${version}`));
      chain.configure({ cilium: { version }, charts: { path } });
    };

    configure("1.20.0");
    for (const refused of [await chain.run("preview"), await chain.run("up", "--skip-preview")]) {
      expect(refused.code).not.toBe(0);
      expect(refused.stdout).toContain("SLU-K202 A chart cannot change to this version in one step");
      expect(refused.stdout).toContain("set cilium.version to a release of 1.19");
    }
    expect((await chain.kubectl(...release)).trim()).toBe("1");

    configure("1.19.0");
    const preview = await chain.run("preview");
    expect(preview.stdout).toContain("cilium 1.18.8 -> 1.19.0: defaults become those of 1.19");
    const { steps } = await chain.up();
    const done = steps.map(({ op, type }) => `${op} ${type.split(/[:/]/).at(-1)}`);
    expect(done).toEqual(expect.arrayContaining(["update ChartVersion", "update Release", "update CiliumReady"]));
    expect((await chain.kubectl(...release)).trim()).toBe("1 2");
    expect((await chain.up()).steps).toEqual([]);
  });
});

/** The revisions of Cilium's release. */
const release = [
  ...["--namespace", "kube-system", "get", "secrets", "--selector", "owner=helm,name=cilium"],
  ...["--output", "jsonpath={.items[*].metadata.labels.version}"],
];
