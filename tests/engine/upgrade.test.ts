// Stacks that an earlier commit has deployed, upgraded by the current program: docs/decisions/provider-paths.md. Their states were recorded
// (tests/fixtures/states). None of their resources is reachable, so that any call to one fails.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import type { Ended } from "../../scripts/base/run.ts";
import { stageCharts } from "../../scripts/lab/charts.ts";
import { Workbench } from "../support/cli.ts";
import { recordedPassphrase, recordedSettings, recordedState } from "../support/recordedState.ts";
import { withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(300_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

describe.each(["hetzner", "proxmox", "existing"])(
  "a stack on platform %s that commit 9229c4d has deployed",
  (platform) => {
    let name: string;
    let before: readonly string[];
    beforeAll(async () => {
      await stageCharts();
      writeFileSync(join(bench.work, "passphrase"), recordedPassphrase, { mode: 0o600 });
      name = bench.addSettings(platform, recordedSettings(platform));
      const file = join(bench.folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(recordedState(platform, name)));
      // Any command that names the stack makes it.
      await bench.npm("pulumi", "config", "--stack", name);
      expect(await bench.npm("pulumi", "stack", "import", "--stack", name, "--file", file)).toMatchObject({ code: 0 });
      before = (await bench.exported(name)).list();
    });

    const offline = (script: string, ...args: readonly string[]) =>
      bench.npmWith({ within: withoutNetwork() }, script, name, ...args);

    test("is refreshed as far as it is reachable, with the provider texts in the state", async () => {
      // What only a cloud knows cannot be read without it.
      const modules = ["talos", "gates", "machines"].map((module) => `**pulumi-nodejs:dynamic/${module}:**`);
      const targets = modules.flatMap((module) => ["--target", module]);
      const refresh = await offline("refresh", "--preview-only", "--json", ...targets);
      expect(failed(refresh)).toEqual([]);
      expect(refresh.stdout).toContain("cp-1 does not answer");
      expect(Object.keys(operations(refresh))).toEqual(["refresh"]);
    });

    test("can be destroyed, with the provider texts in the state", async () => {
      const destroy = await offline("destroy", "--preview-only", "--json");
      expect(failed(destroy)).toEqual([]);
      expect(Object.keys(operations(destroy))).toEqual(["delete"]);
    });

    test("is upgraded without a replacement: each dynamic resource is updated, records that it had not are added, the Kubernetes provider loses its timeout, and everything else is unchanged", async () => {
      const preview = await offline("preview", "--json");
      expect(failed(preview)).toEqual([]);
      const { update = [], same = [], ...others } = operations(preview);
      expect(others).toEqual({ create: added });
      expect(update.filter(isDynamic)).toEqual([...update, ...same].filter(isDynamic));
      // With a DHCP address a preview cannot know that it stays: what depends on it is shown as updated, too.
      if (platform !== "proxmox")
        expect(update.filter((type) => !isDynamic(type))).toEqual(["pulumi:providers:kubernetes"]);
    });

    test("is updated only in its state: no machine, node or API is called, and no old path or name is left", async () => {
      const up = await offline("up", "--yes", "--skip-preview");
      expect({ code: up.code, said: up.code === 0 ? "" : up.stdout }).toEqual({ code: 0, said: "" });
      const state = await bench.exported(name);
      expect(state.list()).toHaveLength(before.length + added.length);
      // S8.1: that of the Talos version with which its configs were generated.
      const contract = state.resources.find(({ type }) => type === contractType);
      expect(contract?.outputs).toMatchObject({ contract: "v1.13" });
      expect(state.list().filter((line) => formerTypes.test(line))).toEqual([]);
      const texts = state.resources.flatMap(({ type, outputs }) =>
        isDynamic(type) ? [String(outputs?.__provider)] : [],
      );
      expect(texts.filter((text) => !/file: "components\/[\w/]+\.provider\.ts"/.test(text))).toEqual([]);
    });

    test("has nothing to do in the next run", async () => {
      const preview = await offline("preview", "--json");
      expect(failed(preview)).toEqual([]);
      expect(Object.keys(operations(preview))).toEqual(["same"]);
    });
  },
);

const contractType = "pulumi-nodejs:dynamic/talos:ConfigContract";
/** They exist in the state only, and call no node that needs nothing. */
const added = [
  contractType,
  "pulumi-nodejs:dynamic/talos:TalosUpgrade",
  "pulumi-nodejs:dynamic/talos:KubernetesUpgrade",
  "pulumi-nodejs:dynamic/platform:ChartVersion",
  "pulumi-nodejs:dynamic/chain:StableGates",
];
const formerTypes = /:(MachineChanges|NodeConfigurations?|NodeMachineConfig) /;

function isDynamic(type: string): boolean {
  return type.startsWith("pulumi-nodejs:dynamic/");
}

/** The types of the resources that a preview does something with, by what it does. */
function operations({ stdout }: Ended): Partial<Record<string, string[]>> {
  const { steps } = report(stdout) as { readonly steps: readonly { readonly op: string; readonly urn: string }[] };
  const types = steps.map(({ op, urn }) => ({ op, type: urn.split("::")[2]?.split("$").at(-1) ?? "" }));
  const groups = Object.groupBy(types, ({ op }) => op);
  return Object.fromEntries(Object.entries(groups).map(([op, all = []]) => [op, all.map(({ type }) => type)]));
}

/** The engine's own; our command may have a line to add. */
function report(stdout: string): unknown {
  return JSON.parse(stdout.replace(/^sluice: .*$/m, "") || "{}");
}

/** The errors of a preview. */
function failed({ code, stdout, stderr }: Ended): readonly unknown[] {
  const { diagnostics = [] } = report(stdout) as { readonly diagnostics?: { readonly severity: string }[] };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return code === 0 ? errors : [code, stderr, ...errors];
}
