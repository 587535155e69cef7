// `npm run render` as a user calls it, on the built Talos plugin.
// UPDATE_GOLDENS=1 regenerates the golden files.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { root } from "../../scripts/base/paths.ts";
import { type Ended, run } from "../../scripts/base/run.ts";
import { startGenerator } from "../../scripts/render/generator.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { programPath } from "../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";
import { goldenNodes } from "../components/talos/goldenClusters.ts";
import { withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(60_000);

const environments = ["cloud", "dev", "home"];
const plugins = toolNamed("plugins");
/** An engine's home without downloaded plugins. */
const home = mkdtempSync(join(tmpdir(), "sluice-render-"));
const rendered = new Map<string, Ended>();

beforeAll(async () => {
  await ensureTools([plugins]);
  for (const environment of environments) rendered.set(environment, await render([], environment));
}, 30 * 60_000);

afterAll(() => rmSync(home, { recursive: true }));

describe.each(environments)("npm run render -- %s", (environment) => {
  test("prints each node's machine config as in its golden file", () => {
    const folder = join(root, "tests/goldens/render", environment);
    const nodes = nodeConfigs(rendered.get(environment)?.stdout ?? "");
    if (process.env.UPDATE_GOLDENS === "1") {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      for (const [node, config] of Object.entries(nodes)) writeFileSync(join(folder, `${node}.yaml`), config);
    }
    const goldens = readdirSync(folder).map((file) => [
      file.replace(".yaml", ""),
      readFileSync(join(folder, file), "utf8"),
    ]);
    expect(nodes).toEqual(Object.fromEntries(goldens));
    expect(rendered.get(environment)).toMatchObject({ code: 0, stderr: "" });
  });

  test("prints no key and no token", () => {
    expect(secretLooking(rendered.get(environment)?.stdout ?? "")).toEqual([]);
  });

  test("U2 prints the same again, without a network", async () => {
    expect(await render(withoutNetwork(), environment)).toEqual(rendered.get(environment));
  });
});

test("npm run render -- home w-1 cp-2 prints only these nodes", async () => {
  const two = await render([], "home", "w-1", "cp-2");
  const { "cp-2": second, "w-1": worker } = nodeConfigs(rendered.get("home")?.stdout ?? "");
  expect(nodeConfigs(two.stdout)).toEqual({ "cp-2": second, "w-1": worker });
});

test("nothing that is not masked looks like a secret", async () => {
  const [golden] = goldenNodes("1.13.8");
  if (golden === undefined) throw new Error("there is no golden node");
  const generator = await startGenerator(programPath(plugins, "pulumi-resource-talos"));
  try {
    const plain = await generator.generate(machineConfigurationArgs(golden.input, golden.node));
    // Of all placeholders only the CA that signs must be a real one.
    expect(secretLooking(plain)).toEqual([expect.stringContaining("-----BEGIN ED25519 PRIVATE KEY-----")]);
  } finally {
    generator.stop();
  }
});

function render(within: readonly string[], ...args: string[]): Promise<Ended> {
  const [program = "", ...rest] = [...within, process.execPath, "scripts/run.mjs", "render", ...args];
  return run(program, rest, { cwd: root, env: { ...process.env, PULUMI_HOME: home } });
}

/** The part of the output for each node. */
function nodeConfigs(output: string): Record<string, string> {
  const parts = output.split(/^(?=# \w+: )/m).filter((part) => part !== "");
  return Object.fromEntries(parts.map((part) => [/^# \w+: ([\w-]+),/.exec(part)?.[1] ?? "", `${part.trimEnd()}\n`]));
}

/** Keys in PEM, and long random-looking words: base64 that is no placeholder of ours. A schematic's id is a hash of its content. */
function secretLooking(text: string): string[] {
  const words = (text.match(/[\w+/-]{24,}={0,2}/g) ?? []).filter((word) => !/^[0-9a-f]{64}$/.test(word));
  const decoded = words
    .filter((word) => /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word))
    .map((word) => Buffer.from(word, "base64").toString("latin1"));
  return [...(text.match(/-----BEGIN.*/g) ?? []), ...decoded.filter((words) => !/^\([ \w]+\)$/.test(words))];
}
