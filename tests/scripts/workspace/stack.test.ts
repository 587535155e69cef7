import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Toolchain } from "../../../scripts/toolchain/toolchain.ts";

const work = mkdtempSync(join(tmpdir(), "sluice-stack-"));
let stack: typeof import("../../../scripts/workspace/stack.ts");
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  for (const name of ["PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"]) {
    delete process.env[name];
  }
  stack = await import("../../../scripts/workspace/stack.ts");
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const toolchain: Toolchain = { pulumi: "pulumi", environment: {}, origin: { cli: "PATH", plugins: "downloaded" } };

describe("the passphrase of a checkout", () => {
  test("is made once, whole and for its owner's eyes, also by runs that start together", async () => {
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
});
