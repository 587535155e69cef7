// What a user sees after a mistake.
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { settings, settingsPath, Workbench } from "../support/cli.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

describe("a wrong configuration", () => {
  test("U1 fails the preview with every fault in one message, and without a stack trace", async () => {
    const { "sluice:nodes": nodes } = settings("home").config as { "sluice:nodes": Record<string, unknown>[] };
    const name = bench.addEnvironment("home", {
      protekt: true,
      kubernetesVersion: "1.22.0",
      nodes: nodes.map((node) => (node.name === "w-2" ? { ...node, address: "10.0.0.11" } : node)),
    });
    const preview = await bench.npm("preview", name);
    expect(preview.code).toBeGreaterThan(0);
    const diagnostics = preview.stdout.slice(
      preview.stdout.indexOf("\nDiagnostics:"),
      preview.stdout.indexOf("\nResources:"),
    );
    expect(diagnostics.trim().split("\n")).toEqual([
      "Diagnostics:",
      `  pulumi:pulumi:Stack (sluice-${name}):`,
      `    error: Pulumi.${name}.yaml has 3 faults:`,
      "      protekt: unknown key - did you mean 'protect'?",
      expect.stringMatching(/^ {6}kubernetesVersion: .*1\.22/),
      expect.stringMatching(/^ {6}nodes\[4\]\.address \(w-2\): .*10\.0\.0\.11/),
    ]);
    expect(preview.stdout + preview.stderr).not.toMatch(/^\s+at .*[:(]/m);
  });

  test.each([
    ["preview", []],
    ["up", []],
    ["up", ["--lab"]],
    ["refresh", []],
    ["destroy", []],
    ["render", []],
    ["snapshot", []],
    ["drift", []],
  ])(
    "S2.4 that is no YAML is refused in one line by every command, before the engine starts: %s %j",
    async (command, options) => {
      const name = bench.addEnvironment("home");
      writeFileSync(settingsPath(name), "config:\n\tsluice:clusterName: hunter2\n");
      const { code, stdout, stderr } = await bench.npm(command, name, ...options);
      expect({ isOk: code === 0, stdout }).toEqual({ isOk: false, stdout: "" });
      expect(stderr.trim()).toBe(`sluice: Pulumi.${name}.yaml:2:1: a tab is not allowed as indentation: use spaces`);
    },
  );

  test("U1 names an environment that does not exist, and those that do", async () => {
    const preview = await bench.npm("preview", "hoem");
    expect(preview).toMatchObject({ code: 1, stdout: "" });
    expect(preview.stderr).toMatch(/^sluice: there is no environment 'hoem': .* Environments: .*cloud.*, dev.*, home/);
  });
});

describe("a patch that Talos rejects", () => {
  const patches = parse(`
    - { name: slip, patch: { machine: { kubelt: { image: leaky-value } } } }
    - { name: type, patch: { machine: { kubelet: { disableManifestsDirectory: leaky-value } } } }
    - { name: text, patch: { apiVersion: v1alpha1, kind: KmsgLogConfig, name: far, url: "leaky value://far" } }
  `);

  test("S2.6 is refused in the first preview, in Talos' own words, before the engine starts", async () => {
    const name = bench.addEnvironment("home", { patches });
    const preview = await bench.npm("preview", name);
    expect(preview).toMatchObject({ code: 1, stdout: "" });
    expect(preview.stderr.trimEnd().split("\n")).toEqual([
      `sluice: Pulumi.${name}.yaml has 3 faults:`,
      "  patches[0].patch: Talos rejects 'slip': unknown keys found during decoding:",
      "    machine:",
      "        kubelt:",
      "            image: leaky-value",
      "  patches[1].patch: Talos rejects 'type': yaml: construct errors:",
      "      line 3: cannot construct !!str `leaky-v...` into bool",
      "  patches[2].patch: Talos rejects 'text': yaml: construct errors:",
      '      line 4: parse "leaky value://far": first path segment in URL cannot contain colon',
    ]);
    const render = await bench.npm("render", name, "cp-1");
    expect(render).toMatchObject({ code: 1, stdout: "", stderr: preview.stderr });
  });

  test("S2.6 is refused without quoting it if it is secret", async () => {
    const name = bench.addEnvironment("home");
    await bench.npmWith(
      { input: JSON.stringify(patches) },
      "pulumi",
      "config",
      "set",
      "--secret",
      "secretPatches",
      "--stack",
      name,
    );
    const preview = await bench.npm("up", name, "--yes");
    expect(preview).toMatchObject({ code: 1, stdout: "" });
    expect(preview.stderr.trimEnd().split("\n")).toEqual([
      `sluice: Pulumi.${name}.yaml has 3 faults:`,
      "  secretPatches[0].patch: Talos rejects 'slip': it has a key that Talos does not know; it is secret and not shown",
      "  secretPatches[1].patch: Talos rejects 'type': a value is str and must be bool; it is secret and not shown",
      "  secretPatches[2].patch: Talos rejects 'text': the message is not shown, because it may quote the secret",
    ]);
  });
});
