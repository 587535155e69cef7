// The Pulumi CLI in a checkout after `npm ci`, without the npm commands, on a Node that runs the program and on one that cannot.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import type { Ended } from "../../scripts/base/run.ts";
import { ordinaryHome } from "../../scripts/toolchain/official.ts";
import { prepareToolchain } from "../../scripts/toolchain/toolchain.ts";
import { configCheckFor } from "../../scripts/toolchain/tools.ts";
import { settings, Workbench } from "../support/cli.ts";
import { unreachableMachines } from "../support/unreachableMachines.ts";
import { withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

describe("plain Pulumi (S6.2)", () => {
  let name: string;
  let variables: Record<string, string>;
  let tools: string;
  const oldNode = join(bench.folder, "old-node");

  beforeAll(async () => {
    const { pulumi, environment } = await prepareToolchain([
      configCheckFor(settings("home").config["sluice:talosVersion"] as string),
    ]);
    tools = dirname(pulumi) === "." ? "" : dirname(pulumi);
    const state = join(bench.folder, "state");
    for (const folder of [state, oldNode]) mkdirSync(folder);
    // Every Node that does not run TypeScript: 20 has no such feature, and here it is off.
    const shim = join(oldNode, "node");
    writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' --no-strip-types "$@"\n`);
    chmodSync(shim, 0o755);
    name = bench.addEnvironment("home", { ...unreachableMachines, protect: false });
    variables = {
      PULUMI_HOME: environment.PULUMI_HOME ?? ordinaryHome(),
      PULUMI_BACKEND_URL: `file://${state}?metadata=skip`,
      PULUMI_CONFIG_PASSPHRASE: "for a test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
    };
    expect(await pulumi24("stack init", name, "--no-select")).toMatchObject({ code: 0 });
  });

  const typed = (node: string, command: string, ...args: readonly string[]): Promise<Ended> => {
    const assigned = Object.entries(variables).map(([key, value]) => `${key}='${value}'`);
    const path = [node, tools, "$PATH"].filter((folder) => folder !== "").join(delimiter);
    const inside = withoutNetwork().map((word) => `'${word}'`);
    return bench.typed([`PATH="${path}"`, ...assigned, ...inside, "pulumi", command, ...args].join(" "));
  };
  const pulumi24 = (command: string, ...args: readonly string[]) => typed(dirname(process.execPath), command, ...args);
  const onStack = (command: string) =>
    command === "preview" ? [command, "--stack", name] : [command, "--stack", name, "--yes", "--skip-preview"];
  const withNode24 = (command: string) => pulumi24(...(onStack(command) as [string]));
  const withOldNode = (command: string) => typed(oldNode, ...(onStack(command) as [string]));
  const errors = ({ stdout, stderr }: Ended) =>
    `${stdout}${stderr}`
      .split("\n")
      .filter((line) => /^\s*(error:|at |TypeError|Error)/.test(line) && !/error: (update|preview) failed$/.test(line));

  test("previews an environment on Node 24", async () => {
    const preview = await withNode24("preview");
    expect(preview).toMatchObject({ code: 0 });
    expect(preview.stdout).toContain("gates:CiliumReady");
    expect(preview.stdout).not.toContain("validator has not judged");
  });

  test("S6.1 refuses in the preview what only Talos' own validator finds, with its place and Talos' words", async () => {
    const patch = { machine: { kubelet: { nodeIP: { validSubnets: ["10.0.1.0/33"] } } } };
    bench.editEnvironment(name, { patches: [{ name: "subnet", patch }] });
    const { code, stdout, stderr } = await withNode24("preview");
    bench.editEnvironment(name, { patches: undefined });
    expect(code).not.toBe(0);
    expect(errors({ code, stdout, stderr } as Ended)).toEqual([
      expect.stringContaining(`Pulumi.${name}.yaml has 1 fault`),
    ]);
    expect(stdout).toMatch(/nodes\[0\] \(cp-1\): the machine config is refused by Talos .*: .*"10\.0\.1\.0\/33"/);
  });

  test("refuses to preview and update on an older Node in one line, which names Node 24 and where it is", async () => {
    for (const command of ["preview", "up"]) {
      const ended = await withOldNode(command);
      expect(ended.code).not.toBe(0);
      const [line = "", ...others] = errors(ended);
      expect(others).toEqual([]);
      expect(line).toContain("Sluice runs on Node 24");
      const [, folder = ""] = /PATH="\$PWD\/([^:]+):\$PATH"/.exec(line) ?? [];
      expect(existsSync(join(root, folder, "node"))).toBe(true);
    }
  });

  test("updates until the gate that stays closed", async () => {
    const up = await withNode24("up");
    expect(up).toMatchObject({ code: expect.any(Number), stdout: expect.stringContaining("SLU-T101") });
  });

  test("names Node 24 in place of a stack trace when an older Node refreshes or destroys, which run no program", async () => {
    for (const command of ["refresh", "destroy"]) {
      const ended = await withOldNode(command);
      expect(ended.code).not.toBe(0);
      expect(errors(ended)).not.toEqual([]);
      expect(errors(ended).filter((line) => !line.includes("Sluice runs on Node 24"))).toEqual([]);
    }
  });

  test("refreshes and destroys on Node 24", async () => {
    expect(await withNode24("refresh")).toMatchObject({ code: 0 });
    expect(await withNode24("destroy")).toMatchObject({ code: 0 });
  });
});
