// Every machine config that the program makes is one that Talos takes: made by the built Talos plugin from our patches,
// judged by the configuration library of each Talos minor, strictly and for metal, where it demands most.
// Not proven here: what only a node can tell, such as whether the disk or the link is there (`RuntimeValidate`).
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type MachineConfigurationArgs, machineConfigurationArgs } from "../../components/talos/machineConfig.ts";
import { type Generator, startGenerator } from "../../scripts/render/generator.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { programPath } from "../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";
import { readClusterConfigFile } from "../../stacks/configFile.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import { goldenNodes } from "../components/talos/goldenClusters.ts";
import { type ConfigCheck, configCheck } from "./support/configCheck.ts";

/** One release of each minor, and a Kubernetes that all of them run. */
const releases = { "1.11": "1.11.6", "1.12": "1.12.6", "1.13": "1.13.8" } as const;
const kubernetesVersion = "1.34.2";

type Minor = keyof typeof releases;
const minors = Object.keys(releases) as Minor[]; // its keys are all it has

const checks = new Map<Minor, ConfigCheck>();
let generator: Generator;

beforeAll(async () => {
  for (const minor of minors) checks.set(minor, await configCheck(minor));
  const plugins = toolNamed("plugins");
  await ensureTools([plugins]);
  generator = await startGenerator(programPath(plugins, "pulumi-resource-talos"));
}, 30 * 60_000);

afterAll(() => {
  generator?.stop();
});

describe.each(minors)("Talos %s takes", (minor) => {
  test.each(["cloud", "dev", "home"])("the config of every node of the environment %s", async (environment) => {
    const { config } = readClusterConfigFile(join(import.meta.dirname, `../../Pulumi.${environment}.yaml`));
    const changed = { ...config, talosVersion: releases[minor], kubernetesVersion };
    const cluster = machineConfigInput(changed);
    const nodes = machineNodes(changed).map((node) => [node.name, machineConfigurationArgs(cluster, node)] as const);
    expect(nodes.length).toBeGreaterThan(0);
    expect(await judge(minor, nodes)).toEqual({});
  });

  test.each(goldenNodes(releases[minor]).map((golden) => [golden.node.name, golden] as const))(
    "the config with the patches of the golden file %s",
    async (name, { input, node }) => {
      expect(await judge(minor, [[name, machineConfigurationArgs(input, node)]])).toEqual({});
    },
  );
});

describe.each(minors)("Talos %s refuses", (minor) => {
  test.each<[string, object, string]>([
    [
      "no disk to install to",
      { machine: { install: { disk: { $patch: "delete" } } } },
      "either install disk or diskSelector should be defined",
    ],
    [
      "what it only warns of",
      { machine: { install: { extensions: [{ image: "ghcr.io/siderolabs/gvisor:v1" }] } } },
      ".machine.install.extensions is deprecated, please see https://",
    ],
  ])("%s", async (_, patch, message) => {
    expect(await faultsOf(minor, patch)).toEqual([expect.stringContaining(message)]);
  });

  test("a key that it does not know", async () => {
    const config = (await generator.generate(args(minor))).replace(/^machine:\n/m, "machine:\n    kublet: {}\n");
    expect(checks.get(minor)?.faults(config)).toEqual([expect.stringMatching(/unknown keys found.*kublet/s)]);
  });

  test("text that is no config", () => {
    expect(checks.get(minor)?.faults("42")).toHaveLength(1);
  });
});

describe.each(["1.12", "1.13"] as const)("Talos %s refuses", (minor) => {
  test("S2.3 extra kernel arguments beside the command line of the image", async () => {
    const install = { extraKernelArgs: ["console=ttyS0"], grubUseUKICmdline: true };
    expect(await faultsOf(minor, { machine: { install } })).toEqual([
      expect.stringContaining("install.extraKernelArgs and install.grubUseUKICmdline can't be used together"),
    ]);
  });

  test("a hostname in the old place beside the document", async () => {
    expect(await faultsOf(minor, { machine: { network: { hostname: "other" } } })).toEqual([
      expect.stringContaining("hostname is already set"),
    ]);
  });
});

test("Talos 1.11 refuses a switch that came with 1.12", async () => {
  expect(await faultsOf("1.11", { machine: { install: { grubUseUKICmdline: true } } })).toEqual([
    expect.stringMatching(/unknown keys found.*grubUseUKICmdline/s),
  ]);
});

/** By node, what Talos has against its config. */
async function judge(minor: Minor, nodes: readonly (readonly [string, MachineConfigurationArgs])[]) {
  const refused: Record<string, readonly string[]> = {};
  for (const [name, wanted] of nodes) {
    const faults = checks.get(minor)?.faults(await generator.generate(wanted)) ?? ["there is no check"];
    if (faults.length > 0) refused[name] = faults;
  }
  return refused;
}

/** A good config of a worker, to spoil with one more patch. */
function args(minor: Minor, ...patches: object[]): MachineConfigurationArgs {
  const worker = goldenNodes(releases[minor]).find(({ node }) => node.name === "home-w-1");
  if (worker === undefined) throw new Error("there is no home-w-1");
  const good = machineConfigurationArgs(worker.input, worker.node);
  return { ...good, configPatches: [...good.configPatches, ...patches.map((patch) => JSON.stringify(patch))] };
}

async function faultsOf(minor: Minor, patch: object): Promise<readonly string[]> {
  return checks.get(minor)?.faults(await generator.generate(args(minor, patch))) ?? [];
}
