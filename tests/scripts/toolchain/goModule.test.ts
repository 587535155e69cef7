import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { requiredVersion } from "../../../scripts/toolchain/goModule.ts";
import type { Program } from "../../../scripts/toolchain/tool.ts";
import { toolNamed } from "../../../scripts/toolchain/tools.ts";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { fixtureTools } from "../support/fixtureTools.ts";

const goMod = `module sluice.invalid/toolchain/x

go 1.26.5

tool example.com/single/cmd

require example.com/single v1.2.3 // why

// example.com/block v9.9.9 is named in a comment
require (
\texample.com/block v0.4.0
\texample.com/block/v2 v2.0.1 // indirect
\texample.com/commit v0.0.0-20240112221901-2fe00b62fa4d
\texample.com/old v3.0.0+incompatible
)

exclude (
\texample.com/excluded v1.0.0
)

exclude example.com/excluded v1.0.1

replace example.com/block => ./patched/block

replace (
\texample.com/replaced v1.0.0 => example.com/other v1.1.0
)
`;

describe("the version that a go.mod requires", () => {
  test.each([
    ["example.com/single", "1.2.3"],
    ["example.com/block", "0.4.0"],
    ["example.com/block/v2", "2.0.1"],
    ["example.com/commit", "0.0.0-20240112221901-2fe00b62fa4d"],
    ["example.com/old", "3.0.0+incompatible"],
  ])("of %s is %s", (module, version) => {
    expect(requiredVersion(goMod, module)).toBe(version);
  });

  test.each(["example.com/excluded", "example.com/replaced", "example.com/bloc", "example.com/single/cmd", "1.26.5"])(
    "of %s, which is not required, is an error that names it",
    (module) => {
      expect(() => requiredVersion(goMod, module)).toThrow(`go.mod does not require ${module}`);
    },
  );
});

describe("the key of a tool", () => {
  let checkout: Checkout;
  let goModule: typeof import("../../../scripts/toolchain/goModule.ts");
  beforeAll(async () => {
    checkout = makeCheckout();
    goModule = await import(join(checkout.folder, "scripts", "toolchain", "goModule.ts"));
  });
  afterAll(() => checkout.remove());

  const tool = (name: string): Program => {
    const found = fixtureTools.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };
  const path = (file: string) => join(checkout.folder, file);

  /** The keys of a tool before and after a file is changed; the file is restored afterwards. */
  function keysAround(name: string, file: string, text: string): [string, string] {
    const before = goModule.toolKey(tool(name));
    const old = readFileSync(path(file), "utf8");
    writeFileSync(path(file), text.replace("OLD", old));
    const after = goModule.toolKey(tool(name));
    writeFileSync(path(file), old);
    return [before, after];
  }

  test.each([
    ["its go.mod", "pulumi", "toolchain/pulumi/go.mod", "OLD// more"],
    ["its go.sum", "pulumi", "toolchain/pulumi/go.sum", "example.invalid/x v1 h1:x="],
    ["a Go file", "pulumi", "toolchain/pulumi/plugins/main.go", "OLD// more"],
    ["a version that only package.json has", "command", "package.json", '{"dependencies":{"@pulumi/command":"1.0.0"}}'],
  ])("changes with %s", (_, name, file, text) => {
    const [before, after] = keysAround(name, file, text);
    expect(after).not.toBe(before);
  });

  test.each([
    ["another module's go.mod", "pulumi", "toolchain/nodejs/go.mod", "OLD// more"],
    ["a version of package.json where go.mod has it", "pulumi", "package.json", '{"dependencies":{}}'],
  ])("stays with %s", (_, name, file, text) => {
    const [before, after] = keysAround(name, file, text);
    expect(after).toBe(before);
  });

  test.each(["notes.md", "main_test.go"])("stays with %s, which is not compiled", (file) => {
    const before = goModule.toolKey(tool("pulumi"));
    writeFileSync(path(`toolchain/pulumi/${file}`), "package main");
    expect(goModule.toolKey(tool("pulumi"))).toBe(before);
  });

  test.each([
    "cmd/sluice-lab/chart/templates/a.tpl",
    "cmd/sluice-lab/values.yaml",
    "cmd/sluice-lab/sample/.hidden/kept",
    "cmd/sluice-lab/main.go",
    "go.sum",
  ])("of the lab changes with %s, which is compiled or embedded", (file) => {
    const before = goModule.toolKey(toolNamed("sluice-lab"));
    const old = readFileSync(path(`lab/${file}`), "utf8");
    writeFileSync(path(`lab/${file}`), `${old}// more`);
    expect(goModule.toolKey(toolNamed("sluice-lab"))).not.toBe(before);
    writeFileSync(path(`lab/${file}`), old);
    expect(goModule.toolKey(toolNamed("sluice-lab"))).toBe(before);
  });

  test("of the lab stays with what nothing embeds", () => {
    const before = goModule.toolKey(toolNamed("sluice-lab"));
    writeFileSync(path("lab/cmd/sluice-lab/sample/notes.yaml"), "other");
    writeFileSync(path("lab/README.md"), "other");
    expect(goModule.toolKey(toolNamed("sluice-lab"))).toBe(before);
  });

  test("changes with a renamed file, and not with the path of the checkout", () => {
    const before = goModule.toolKey(tool("pulumi"));
    writeFileSync(path("toolchain/pulumi/a.go"), "package main");
    const one = goModule.toolKey(tool("pulumi"));
    expect(one).not.toBe(before);
    const elsewhere = goModule.moduleFiles(path("toolchain/pulumi"));
    expect(elsewhere).toContain("a.go");
    expect(elsewhere.every((file) => !file.startsWith("/"))).toBe(true);
  });

  test.each<[string, Partial<Program>]>([
    ["another package", { package: "./other" }],
    ["another alias", { commands: ["pulumi", "alias"] }],
    ["another version variable", { versionVariables: { "main.v": "1" } }],
    ["other scripts", { scripts: { module: "example.invalid/sdk", files: [] } }],
  ])("changes with the recipe: %s", (_, change) => {
    expect(goModule.toolKey({ ...tool("pulumi"), ...change })).not.toBe(goModule.toolKey(tool("pulumi")));
  });

  test("changes with the platform", () => {
    expect(goModule.toolKey(tool("pulumi"), "linux-arm64")).not.toBe(goModule.toolKey(tool("pulumi"), "linux-x64"));
  });

  test("stays with what is only printed", () => {
    const printed = { ...tool("pulumi"), purpose: "another", seconds: 1, gigabytes: 99 };
    expect(goModule.toolKey(printed)).toBe(goModule.toolKey(tool("pulumi")));
  });
});
