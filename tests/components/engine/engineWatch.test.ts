import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startOf } from "../../../scripts/base/processIdentity.ts";

const watch = join(import.meta.dirname, "..", "..", "..", "components", "engine", "engineWatch.ts");
const folder = mkdtempSync(join(tmpdir(), "sluice-watch-"));
const provider = join(folder, "dynamic-provider.mjs");
const script = join(folder, "pulumi-resource-pulumi-nodejs");

/** How long a process may take to notice, on a busy machine. */
const noticeMs = 10_000;

async function untilGone(pid: number): Promise<void> {
  const began = performance.now();
  while (startOf(pid) !== undefined && performance.now() - began < noticeMs) {
    await new Promise((done) => setTimeout(done, 20));
  }
  expect(startOf(pid)).toBeUndefined();
}

/** The provider's process as an engine starts it, through a shell, with the address of the engine; resolves with its pid. */
async function startProvider(engine: ChildProcess): Promise<number> {
  if (engine.stdout === null) throw new Error("no output");
  const [said] = await once(engine.stdout, "data");
  return Number(String(said));
}

describe("S5.3 the process of the dynamic providers", () => {
  beforeAll(() => {
    const program = `import { endWithEngine } from ${JSON.stringify(watch)};\nendWithEngine();\nconsole.log(process.pid);\nsetTimeout(() => undefined, 60_000);\n`;
    writeFileSync(provider, program);
    writeFileSync(script, `#!/bin/sh\n"${process.execPath}" "${provider}" $@\ntrue\n`, { mode: 0o700 });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("ends at once when the engine is killed, although a shell is between them", async () => {
    const start = `const { spawn } = require("node:child_process");
      const server = require("node:net").createServer().listen(0, "127.0.0.1", () =>
        spawn(${JSON.stringify(script)}, ["127.0.0.1:" + server.address().port], { stdio: "inherit" }));`;
    const engine = spawn(process.execPath, ["-e", start], { stdio: ["ignore", "pipe", "inherit"] });
    const pid = await startProvider(engine);
    expect(startOf(pid)).toBeDefined();
    engine.kill("SIGKILL");
    await untilGone(pid);
    engine.stdout.destroy();
  }, 30_000);

  test("ends at once when the engine was killed before, and its shell has another parent by now", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const shell = spawn(script, [`127.0.0.1:${port}`], { stdio: ["ignore", "pipe", "inherit"] });
    await untilGone(await startProvider(shell));
    shell.stdout.destroy();
  }, 30_000);
});
