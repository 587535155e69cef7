// Three control planes that are all reset by hand: no etcd is left, and a new cluster begins on the same machines only when that is asked for.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { stringify } from "yaml";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { BenchLab } from "../lab/support/benchLab.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { Workbench } from "../support/cli.ts";

jest.setTimeout(900_000);

const bench = new Workbench({ fresh: false });
const lab = new BenchLab(bench, "lost-three");
const controlPlanes = { "test-cp-1": "10.0.0.11", "test-cp-2": "10.0.0.12", "test-cp-3": "10.0.0.13" };
const timeout = 600_000;
let name: string;

const up = (...options: readonly string[]) =>
  bench.npmWith({ timeout }, "up", name, "--yes", "--skip-preview", ...options);
const times = (what: string, value: string) =>
  lab.facts.all.filter((fact) => fact.what === what && fact.value === value).length;

/** Without draining, as after the loss of all disks. */
async function resetAll(): Promise<void> {
  const labels = ["STATE", "EPHEMERAL"].flatMap((label) => ["--system-labels-to-wipe", label]);
  const before = lab.facts.all.at(-1);
  const addresses = Object.values(controlPlanes);
  for (const address of addresses) {
    const how = ["--reboot", "--graceful=false", "--wait=false", "--endpoints", address, "--nodes", address];
    await lab.said("talosctl", "reset", ...labels, ...how);
  }
  for (const subject of Object.keys(controlPlanes)) {
    await lab.facts.until({ subject, what: "stage", value: "maintenance", after: before }, 120_000);
  }
}

describe("a cluster of three control planes that are all reset by hand (S1.6, S5.1, S5.5)", () => {
  beforeAll(async () => {
    const off = { enabled: false };
    const config = environment({ platform: "existing", controlPlanes: 3, config: { csi: off, flux: off } });
    const settings = { ...config, charts: { path: labCharts }, lab: { name: "lost-three" } };
    name = bench.addSettings(
      "lost-three",
      stringify({
        config: Object.fromEntries(Object.entries(settings).map(([key, value]) => [`sluice:${key}`, value])),
      }),
    );
    await lab.start();
    expect(await up()).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await lab.down();
    bench.remove();
  });

  test("S5.5 is reported as lost by a plain up, which bootstraps nothing", async () => {
    await resetAll();
    const lost = await up();
    expect(lost).not.toMatchObject({ code: 0 });
    expect(lost.stdout).toMatch(/SLU-T220 The cluster's etcd is gone/);
    expect(times("bootstrap", "asked")).toBe(1);
  });

  test("S1.6 begins again with --new-cluster, with one bootstrap", async () => {
    const again = await up("--new-cluster");
    expect({ code: again.code, said: again.code === 0 ? "" : again.stdout + again.stderr }).toEqual({
      code: 0,
      said: "",
    });
    expect(times("bootstrap", "asked")).toBe(2);
    await lab.said("kubectl", "wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    expect(await up("--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
