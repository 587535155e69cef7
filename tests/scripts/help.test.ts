// Every command of scripts/, called with --help and with invalid arguments.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import { run } from "../../scripts/base/run.ts";
import { commands } from "../support/commands.ts";

jest.setTimeout(60_000);

const pulumi = "scripts/cli/pulumi.ts";
const home = mkdtempSync(join(tmpdir(), "sluice-help-"));
afterAll(() => rmSync(home, { recursive: true }));

/** Without any program on PATH and with separate folders: whatever the command did would fail or be noticed. */
function call(script: string, ...args: readonly string[]) {
  const env = { PATH: "", HOME: home, SLUICE_WORK: join(home, "work"), SLUICE_CACHE: join(home, "cache") };
  return run(process.execPath, ["--disable-warning=ExperimentalWarning", script, ...args], { cwd: root, env });
}

describe("a command of scripts/", () => {
  test.each(commands)("$command prints with --help how it is called, and does nothing else", async ({ script }) => {
    const ended = await call(script, "--help");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^(npm (run [\w|]+|start|test)( --)?|node scripts\/run\.mjs \w+)/);
    expect(readdirSync(home)).toEqual([]);
  });

  test.each(["preview", "up", "refresh", "destroy"])(
    "pulumi %s prints with --help how it is called, and does nothing else",
    async (command) => {
      const ended = await call(pulumi, command, "--help");
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      expect(ended.stdout).toMatch(new RegExp(`^npm run ${command} -- <environment>`));
      expect(readdirSync(home)).toEqual([]);
    },
  );

  test("pulumi preview of two environments is refused in one line (S6.3)", async () => {
    const { code, stderr } = await call(pulumi, "preview", "dev", "dev2");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        "sluice: unexpected argument 'dev2': npm run preview takes one environment, and after it options of 'pulumi preview'.\n",
    });
    expect(readdirSync(home)).toEqual([]);
  });

  // The CLI knows its own options and says what it does not know.
  test.each(commands.filter(({ script }) => script !== pulumi))(
    "$command refuses unknown arguments",
    async ({ script }) => {
      for (const args of [["--no-such-option"], ["dev", "no-such-thing", "at-all", "whatever"]]) {
        const { code, stderr } = await call(script, ...args);
        expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringMatching(/^sluice: /) });
        expect(stderr).not.toContain("    at ");
      }
      expect(readdirSync(home)).toEqual([]);
    },
  );
});
