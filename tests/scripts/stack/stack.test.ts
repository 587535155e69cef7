import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Toolchain } from "../../../scripts/toolchain/toolchain.ts";

const work = mkdtempSync(join(tmpdir(), "sluice-stack-"));
let stack: typeof import("../../../scripts/stack/stack.ts");
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  for (const name of ["PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"]) {
    delete process.env[name];
  }
  stack = await import("../../../scripts/stack/stack.ts");
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const toolchain: Toolchain = { pulumi: "pulumi", environment: {}, origin: { cli: "PATH", plugins: "downloaded" } };

describe("the passphrase of a checkout", () => {
  test("is created once, completely and readable only by its owner, even by runs that start together", async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { PULUMI_CONFIG_PASSPHRASE_FILE: file = "" } = await stack.backendEnvironment(toolchain);
        return { file, text: readFileSync(file, "utf8") };
      }),
    );
    expect(new Set(made.map(({ file }) => file))).toEqual(new Set([join(work, "passphrase")]));
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect(made[0]?.text).toMatch(/^[\w-]{43}\n$/);
    expect(statSync(join(work, "passphrase")).mode & 0o777).toBe(0o600);
    expect(readdirSync(work).sort()).toEqual(["passphrase", "state"]);
  });

  test("is never made again where a state is encrypted with it: the run ends, with both ways out (S5.3)", async () => {
    const stacks = join(work, "state", ".pulumi", "stacks", "sluice");
    mkdirSync(stacks, { recursive: true });
    writeFileSync(join(stacks, "mine.json"), JSON.stringify({ version: 3, checkpoint: {} }));
    rmSync(join(work, "passphrase"));
    await expect(stack.backendEnvironment(toolchain)).rejects.toThrow(
      `${join(work, "passphrase")} is missing, and the state of mine is encrypted with it: restore it from a copy, or name one in PULUMI_CONFIG_PASSPHRASE_FILE. Without it the secrets in the state are lost; if nothing is deployed from here, begin again with: rm -r ${join(work, "state")} ${join(work, "settings")}`,
    );
    expect(existsSync(join(work, "passphrase"))).toBe(false);
    process.env.PULUMI_CONFIG_PASSPHRASE_FILE = join(work, "copy");
    await expect(stack.backendEnvironment(toolchain)).resolves.toBeDefined();
    delete process.env.PULUMI_CONFIG_PASSPHRASE_FILE;
  });
});
