// The first thing that a person does, and the whole life of a stack, on the real engine and plugins.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/workspace/paths.ts";
import { State, Workbench } from "../support/cli.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: true });
afterAll(() => bench.remove());

const resources = [
  "pulumi:pulumi:Stack sluice-dev",
  "sluice:talos:MachineSecrets dev",
  ...["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((node) => `sluice:talos:NodeMachineConfig dev-${node}`),
  "talos:machine/secrets:Secrets dev",
];

describe("npm start, from nothing", () => {
  let started: Awaited<ReturnType<Workbench["npm"]>>;
  let before: Record<string, string>;
  let state: State;

  beforeAll(async () => {
    before = settingsFiles();
    started = await bench.npm("start");
    state = started.code === 0 ? await bench.exported("dev") : new State([]);
  });

  test("U1 ends well, with the stack's outputs and no secret among them", () => {
    expect(started).toMatchObject({ code: 0 });
    const [, made = ""] = started.stdout.split("\nUpdating (dev):\n");
    const outputs = made.slice(made.indexOf("\nOutputs:"), made.indexOf("\nResources:"));
    expect(outputs.trim().split("\n")).toEqual([
      "Outputs:",
      '    endpoint             : "https://10.0.1.5:6443"',
      "    machineConfigurations: {",
      ...["cp-1", "cp-2", "cp-3", "w-1 ", "w-2 "].map((node) => `        ${node}: [secret]`),
      "    }",
      "    nodes                : {",
      ...Object.entries(nodes).flatMap(([name, { address, role }]) => [
        `        ${name.padEnd(4)}: {`,
        `            address: "${address}"`,
        `            role   : "${role}"`,
        "        }",
      ]),
      "    }",
      `    schematicId          : "${emptySchematic}"`,
      "    talosconfig          : [secret]",
    ]);
  });

  test("U1 says where the state is, and what comes next", () => {
    expect(started.stdout).toContain(`state in ${bench.work}/state, its passphrase in ${bench.work}/passphrase`);
    expect(started.stdout.split("\nNext:\n")[1]?.split("\n")).toEqual([
      "  npm run render -- dev                 each node's machine config, secrets masked",
      "  npm run preview -- home               the same program for a Proxmox cluster; it needs no account",
      "  cp Pulumi.home.yaml Pulumi.mine.yaml  an environment of your own: edit it, then npm run preview -- mine",
      "  npm run destroy -- dev                take it away again",
      "",
    ]);
  });

  test("U1 makes every resource, and outputs that a program can use", () => {
    expect(state.list()).toEqual(resources);
    expect(state.outputs("pulumi:pulumi:Stack")).toEqual({
      endpoint: "https://10.0.1.5:6443",
      schematicId: emptySchematic,
      nodes,
      talosconfig: expect.stringMatching(/^context: dev\n/),
      machineConfigurations: Object.fromEntries(
        Object.entries(nodes).map(([name, { role }]) => [name, expect.stringContaining(`    type: ${role}\n`)]),
      ),
    });
  });

  test("U1 keeps what it made for its owner alone", () => {
    const modes = ["state", "passphrase", "settings"].map((name) => statSync(join(bench.work, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o700]);
  });

  test("U1 changes nothing when it runs again", async () => {
    const again = await bench.npm("up", "dev", "--yes", "--skip-preview", "--expect-no-changes");
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("Resources:\n    8 unchanged\n") });
  });

  test("U3 finds nothing on refresh", async () => {
    const refreshed = await bench.npm("refresh", "dev", "--yes", "--skip-preview", "--expect-no-changes");
    expect(refreshed).toMatchObject({ code: 0, stdout: expect.stringContaining("Resources:\n    8 unchanged\n") });
  });

  test("U1 is taken away by destroy to the last resource, and the last word fits the checkout", async () => {
    const destroyed = await bench.npm("destroy", "dev", "--yes", "--skip-preview");
    expect(destroyed).toMatchObject({ code: 0, stdout: expect.stringContaining("Resources:\n    - 8 deleted\n") });
    expect(destroyed.stdout).toContain("'npm run pulumi -- stack rm dev'; Pulumi.dev.yaml stays");
    const { checkpoint } = JSON.parse(readFileSync(bench.stateFile("dev"), "utf8"));
    expect(checkpoint.latest.resources ?? []).toEqual([]);
  });

  test("U1 leaves the files of the checkout as they were", () => {
    expect(Object.keys(before)).toContain("Pulumi.dev.yaml");
    expect(settingsFiles()).toEqual(before);
  });

  test("U1 has git ignore the folder that all this goes to by default", () => {
    const names = ["state", "passphrase", "settings", "pulumi"].map((name) => `.work/${name}`);
    const ignored = spawnSync("git", ["check-ignore", ...names], { cwd: root, encoding: "utf8" });
    expect(ignored.stdout.trim().split("\n")).toEqual(names);
  });
});

const nodes: Readonly<Record<string, { readonly role: string; readonly address: string }>> = {
  "cp-1": { role: "controlplane", address: "10.0.1.11" },
  "cp-2": { role: "controlplane", address: "10.0.1.12" },
  "cp-3": { role: "controlplane", address: "10.0.1.13" },
  "w-1": { role: "worker", address: "10.0.1.21" },
  "w-2": { role: "worker", address: "10.0.1.22" },
};

/** The Image Factory's own id of `customization: {}`. */
const emptySchematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

/** The settings files that git knows, with their text. Other tests have theirs beside them. */
function settingsFiles(): Record<string, string> {
  const known = spawnSync("git", ["ls-files", "Pulumi*.yaml"], { cwd: root, encoding: "utf8" })
    .stdout.trim()
    .split("\n");
  return Object.fromEntries(known.map((name) => [name, readFileSync(join(root, name), "utf8")]));
}
