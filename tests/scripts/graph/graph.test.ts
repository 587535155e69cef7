// `npm run graph`, and the picture that the README shows.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { run } from "../../../scripts/base/run.ts";
import { environmentSvg } from "../../../scripts/graph/environmentSvg.ts";
import { chainSvg } from "../../../scripts/graph/svg.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { gatesOf } from "../../../stacks/parts/clusterParts.ts";

jest.setTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "sluice-graph-"));
afterAll(() => rmSync(folder, { recursive: true }));

const picture = "docs/pictures/graph.svg";

/** Without a program on PATH, without an account and without tools. */
function graph(...args: readonly string[]) {
  const env = { PATH: "", HOME: folder, SLUICE_WORK: join(folder, "work"), SLUICE_CACHE: join(folder, "cache") };
  const script = ["--disable-warning=ExperimentalWarning", "scripts/cli/graph.ts"];
  return run(process.execPath, [...script, ...args], { cwd: root, env });
}

function configOf(name: string) {
  return readClusterConfigFile(join(root, `Pulumi.${name}.yaml`)).config;
}

describe("npm run graph", () => {
  test("S6.3 draws the picture of the README, which `npm run graph -- dev --file docs/pictures/graph.svg` regenerates", async () => {
    const file = join(folder, "work", "graph", "dev.svg");
    expect(await graph("dev")).toMatchObject({ code: 0, stdout: `${file}\n`, stderr: "" });
    expect(readFileSync(file, "utf8")).toBe(readFileSync(join(root, picture), "utf8"));
    expect(existsSync(join(folder, "cache"))).toBe(false);
  });

  test.each(["dev", "home", "cloud"])("S6.3 draws every node and every gate of %s", async (name) => {
    const config = configOf(name);
    const svg = await environmentSvg(name, config);
    const gates = [...svg.matchAll(/class="name">(\w+)</g)].map(([, gate]) => gate);
    expect(gates).toEqual(gatesOf(config).map((gate) => gate.name));
    for (const node of config.nodes) expect(svg.split(`>${node.name}<`).length).toBeGreaterThan(2);
  });
});

test("S6.3 a picture shows names as they are, whatever they contain, and loads nothing", () => {
  const item = { title: "<script>", kinds: ["a & b"], nodes: [], layer: 0, role: "proven" } as const;
  const svg = chainSvg({
    environment: '"x"',
    summary: "",
    stages: [{ items: [item], links: [], gates: [] }],
    nodes: [],
  });
  expect(svg).toContain(">&#60;script&#62;<");
  expect(svg).toContain(">a &#38; b<");
  expect(svg).toContain("The chain of &#34;x&#34;");
  expect(svg.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|<script|@import|href/);
});
