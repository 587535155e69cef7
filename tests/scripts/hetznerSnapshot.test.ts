// scripts/hetznerSnapshot.ts as the engine runs it, with an API on loopback and a packer that only writes down what it was asked.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { root } from "../../scripts/workspace/paths.ts";
import { run } from "../../scripts/workspace/run.ts";

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

function runScript() {
  const env = {
    PATH: `${folder}:/usr/bin:/bin`,
    HCLOUD_TOKEN: "the-token",
    HCLOUD_ENDPOINT: `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`,
    PKR_VAR_labels: '{"os":"talos"}',
    PKR_VAR_architecture: "amd64",
  };
  return run(process.execPath, ["scripts/hetznerSnapshot.ts"], { cwd: root, env });
}

function fakePacker(script: string): void {
  writeFileSync(join(folder, "packer"), `#!/bin/sh\necho "$@ with $PKR_VAR_labels" >> ${folder}/asked\n${script}\n`);
  chmodSync(join(folder, "packer"), 0o755);
}

describe("making a snapshot", () => {
  test("S0.1 is left alone where there is one", async () => {
    images = [{ id: 42, description: "Talos", labels: {} }];
    fakePacker("");
    expect(await runScript()).toMatchObject({ code: 0, stdout: "sluice: snapshot 42 'Talos' is there already\n" });
    expect(asked()).toBe("");
  });

  test("S0.1 is Packer's work where there is none", async () => {
    fakePacker("");
    expect(await runScript()).toMatchObject({ code: 0 });
    expect(asked().split("\n")).toEqual([
      'init packer/hetzner-talos.pkr.hcl with {"os":"talos"}',
      'build -color=false packer/hetzner-talos.pkr.hcl with {"os":"talos"}',
      "",
    ]);
  });

  test("S1.7 that fails ends with what Packer said last", async () => {
    fakePacker('test "$1" = init || { echo "no such server type" >&2; exit 3; }');
    const { code, stderr } = await runScript();
    expect(code).toBe(1);
    expect(stderr).toContain("SLU-M103 An image could not be made");
    expect(stderr).toMatch(/seen: {3}packer build ended with 3:\n +no such server type\n/);
  });

  test("S1.7 without Packer says so", async () => {
    expect(await runScript()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no packer on PATH: install it"),
    });
  });
});
