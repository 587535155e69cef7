// scripts/cli/snapshot.ts as the engine runs it, with an API on loopback and a packer that only records its arguments.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { schematicId } from "../../../components/images/schematic.ts";
import { snapshotLabels } from "../../../components/images/snapshotLabels.ts";
import { root } from "../../../scripts/base/paths.ts";
import { run } from "../../../scripts/base/run.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";

let folder: string;
let api: Server;
let images: object[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-snapshot-"));
  images = [];
  api = createServer((_, response) => response.end(JSON.stringify({ images })));
  await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
});
afterEach(async () => {
  await new Promise((done) => api.close(done));
  rmSync(folder, { recursive: true });
});

const asked = () => (existsSync(join(folder, "asked")) ? readFileSync(join(folder, "asked"), "utf8") : "");

/** What the engine sets for the command. */
const variables = { PKR_VAR_labels: '{"os":"talos"}', PKR_VAR_architecture: "amd64" };

function runScript(more: NodeJS.ProcessEnv = variables, ...args: readonly string[]) {
  const env = {
    PATH: `${folder}:/usr/bin:/bin`,
    HCLOUD_TOKEN: "the-token",
    HCLOUD_ENDPOINT: `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`,
    SLUICE_WORK: folder,
    ...more,
  };
  return run(process.execPath, ["scripts/cli/snapshot.ts", ...args], { cwd: root, env });
}

function fakePacker(script: string): void {
  writeFileSync(join(folder, "packer"), `#!/bin/sh\necho "$@ with $PKR_VAR_labels" >> ${folder}/asked\n${script}\n`);
  chmodSync(join(folder, "packer"), 0o755);
}

describe("making a snapshot", () => {
  test("S0.1 does nothing if there is one", async () => {
    images = [{ id: 42, description: "Talos", labels: {} }];
    fakePacker("");
    expect(await runScript()).toMatchObject({ code: 0, stdout: "sluice: snapshot 42 'Talos' already exists\n" });
    expect(asked()).toBe("");
  });

  test("S0.1 runs Packer if there is none", async () => {
    fakePacker("");
    expect(await runScript()).toMatchObject({ code: 0 });
    expect(asked().split("\n")).toEqual([
      'init packer/hetzner-talos.pkr.hcl with {"os":"talos"}',
      'build -color=false packer/hetzner-talos.pkr.hcl with {"os":"talos"}',
      "",
    ]);
  });

  test("S1.7 that fails ends with the end of Packer's output", async () => {
    fakePacker('test "$1" = init || { echo "no such server type" >&2; exit 3; }');
    const { code, stderr } = await runScript();
    expect(code).toBe(1);
    expect(stderr).toContain("SLU-M103 An image could not be made");
    expect(stderr).toMatch(/seen: {7}packer build ended with 3:\n +no such server type\n/);
  });

  test("S1.7 interrupts Packer once if it takes too long, and Packer deletes what it created", async () => {
    const tidy = `trap 'echo tidied >> ${folder}/asked; exit 1' INT`;
    fakePacker(`test "$1" = init || { ${tidy}; while :; do sleep 0.02; done; }`);
    const { code, stderr } = await runScript({ ...variables, SLUICE_SNAPSHOT_MINUTES: "0.02" });
    expect(code).toBe(1);
    expect(stderr).toContain("packer build took longer than 0.02 minutes; SLUICE_SNAPSHOT_MINUTES allows more");
    expect(asked()).toMatch(/^build .*\ntidied\n$/m);
  });

  test.each(["0", "-1", "soon"])("S1.7 is given no %s minutes", async (minutes) => {
    expect(await runScript({ ...variables, SLUICE_SNAPSHOT_MINUTES: minutes })).toMatchObject({
      code: 1,
      stderr: `sluice: SLUICE_SNAPSHOT_MINUTES is '${minutes}': it must be a number above 0\n`,
    });
  });

  test("S1.7 without Packer reports that it is missing", async () => {
    expect(await runScript()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("packer is not on PATH: install it"),
    });
  });
});

describe("npm run snapshot -- <environment>", () => {
  test("S0.1 creates the snapshot from which the environment's servers start", async () => {
    fakePacker(`env | grep ^PKR_VAR_ | sort > ${folder}/variables`);
    expect(await runScript({ PKR_VAR_server_type: "cx23" }, "cloud")).toMatchObject({ code: 0 });
    const { config } = readClusterConfigFile(join(root, "Pulumi.cloud.yaml"));
    const schematic = schematicId(config.image);
    const told = Object.fromEntries(
      readFileSync(join(folder, "variables"), "utf8")
        .split("\n")
        .map((line) => /^PKR_VAR_(\w+)=(.*)$/.exec(line)?.slice(1) ?? []),
    );
    expect(told).toMatchObject({
      talos_version: config.talosVersion,
      schematic_id: schematic,
      architecture: "amd64",
      location: "fsn1",
      factory: config.image.factory,
      server_type: "cx23",
    });
    expect(JSON.parse(told.labels)).toEqual(
      snapshotLabels({ talosVersion: config.talosVersion, schematicId: schematic, architecture: "amd64" }),
    );
  });

  test("S0.1 creates none if there is one", async () => {
    images = [{ id: 42, description: "Talos", labels: {} }];
    fakePacker("");
    expect(await runScript({}, "cloud")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("already exists"),
    });
    expect(asked()).toBe("");
  });

  test.each([
    ["home", {}, "sluice: home is on platform 'proxmox': only Hetzner servers start from a snapshot\n"],
    ["dev", {}, "sluice: dev runs on the lab 'default', which has its snapshot from the beginning\n"],
    ["cloud", { HCLOUD_TOKEN: "" }, /^sluice: no Hetzner token: set HCLOUD_TOKEN to .*--stack cloud'\n$/],
  ])("S0.1 has nothing to make for %s with %j", async (environment, env, message) => {
    fakePacker("");
    const { code, stderr } = await runScript(env, environment);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
    expect(asked()).toBe("");
  });
});
