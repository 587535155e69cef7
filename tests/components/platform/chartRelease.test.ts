import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { type Chart, type ChartArgs, chartRelease } from "../../../components/platform/chartRelease.ts";
import { recordPlatform, release } from "./platformResources.ts";

const chart: Chart = { name: "thing", repository: "https://charts.example.org", release: "a-thing", namespace: "ns" };
const folder = mkdtempSync(join(tmpdir(), "sluice-charts-"));
mkdirSync(join(folder, "thing"));
writeFileSync(join(folder, "thing", "Chart.yaml"), "apiVersion: v2\nname: thing\nversion: 1.10.0\n");
afterAll(() => rmSync(folder, { recursive: true }));

const values = { a: { b: 1 }, gone: null };
const make = (args: ChartArgs) =>
  recordPlatform((provider) => chartRelease("it", chart, { ...args, values }, { provider }));

describe("a chart", () => {
  test("S3.2 comes from its repository by its exact version, without waiting, which is a gate's task", async () => {
    const { resources } = await make({ version: "1.10.0" });
    expect(resources.map(({ inputs }) => inputs)).toEqual([
      { ...release("thing", "https://charts.example.org", "1.10.0", "a-thing", "ns"), values },
    ]);
  });

  test("S3.2 comes from a registry by its full name, as Helm requires", async () => {
    const published = { ...chart, repository: "oci://registry.example.org/charts" };
    const { resources } = await recordPlatform((provider) =>
      chartRelease("it", published, { version: "1.10.0", values }, { provider }),
    );
    const { repositoryOpts: _, ...named } = release(
      "oci://registry.example.org/charts/thing",
      "",
      "1.10.0",
      "a-thing",
      "ns",
    );
    expect(resources.map(({ inputs }) => inputs)).toEqual([{ ...named, values }]);
  });

  test("U2 comes from a folder if one is configured, so that nothing is downloaded", async () => {
    const { resources } = await make({ version: "1.10.0", charts: folder });
    const { repositoryOpts: _, ...local } = release(join(folder, "thing"), "", "1.10.0", "a-thing", "ns");
    expect(resources.map(({ inputs }) => inputs)).toEqual([{ ...local, values }]);
  });

  test("is refused if the folder has another version than the configured one, which Helm would install", async () => {
    await expect(make({ version: "1.1.0", charts: folder })).rejects.toThrow(
      `charts.path: ${folder}/thing is version 1.10.0, but 1.1.0 is configured: set that version, or replace the chart`,
    );
  });

  test("is refused if it is missing from the folder", async () => {
    await expect(make({ version: "1.10.0", charts: "/nowhere" })).rejects.toThrow(
      "charts.path: /nowhere/thing holds no chart, but thing 1.10.0 is to be installed from there: put it there. For an environment on a lab the npm commands do that: npm run preview -- test",
    );
  });
});
