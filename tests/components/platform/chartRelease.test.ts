import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease, leftAsItWas } from "../../../components/platform/chartRelease.ts";
import { record } from "../../support/mocks.ts";
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
  test("S3.2 comes from its repository by its exact version, and is not waited for: that is a gate's matter", async () => {
    const { resources } = await make({ version: "1.10.0" });
    expect(resources.map(({ inputs }) => inputs)).toEqual([
      { ...release("thing", "https://charts.example.org", "1.10.0", "a-thing", "ns"), values },
    ]);
  });

  test("S3.2 comes from a registry by its whole name, which is how Helm asks one", async () => {
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

  test("S1.8 is compared with the state by what its values have become", async () => {
    const made = { a: pulumi.output({ b: 1 }), gone: null };
    await expect(
      recordPlatform((provider) => chartRelease("it", chart, { version: "1.10.0", values: made }, { provider })),
    ).resolves.toBeDefined();
  });

  test("U2 comes from a folder where one is named, so that nothing is fetched", async () => {
    const { resources } = await make({ version: "1.10.0", charts: folder });
    const { repositoryOpts: _, ...local } = release(join(folder, "thing"), "", "1.10.0", "a-thing", "ns");
    expect(resources.map(({ inputs }) => inputs)).toEqual([{ ...local, values }]);
  });

  test("is refused where the folder has another version than the one asked for, which Helm would install", async () => {
    await expect(make({ version: "1.1.0", charts: folder })).rejects.toThrow(
      `charts.path: ${folder}/thing is version 1.10.0, but 1.1.0 is asked for: set the one that is there, or put the other in its place`,
    );
  });

  test("is refused where the folder does not have it", async () => {
    await expect(make({ version: "1.10.0", charts: "/nowhere" })).rejects.toThrow(
      "charts.path: /nowhere/thing holds no chart, but thing 1.10.0 is to be installed from there",
    );
  });
});

describe("an update that the provider left out because the API did not answer", () => {
  const asked = { version: "1.10.0", values };

  test.each([
    ["its version", { version: "1.9.0", values: { a: { b: 1 } } }],
    ["a value", { version: "1.10.0", values: { a: { b: 2 } } }],
    ["a value that is gone", { version: "1.10.0", values: { a: { b: 1 }, c: true } }],
  ])("S1.8 of %s is an error of one line, and no success that changed nothing", (_, state) => {
    const error = leftAsItWas(chart, asked, state);
    expect(error?.message).toBe(
      "ns/a-thing is not what it shall be, version 1.10.0 with the values of this environment: the Kubernetes API did not answer when it was to be changed. Run it again.",
    );
    expect(error?.stack).toBeUndefined();
  });

  test("is not seen in one that was made: the state has the values but for null", () => {
    expect(leftAsItWas(chart, asked, { version: "1.10.0", values: { a: { b: 1 } } })).toBeUndefined();
  });

  test("U2 is none in a preview, which is made without the cluster", async () => {
    const program = () =>
      chartRelease("it", chart, asked, { provider: new kubernetes.Provider("kubernetes") }).version.apply(() => true);
    const state = () => ({ version: "1.9.0", values: {} });
    await expect(record(program, { preview: true, state })).resolves.toBeDefined();
  });
});
