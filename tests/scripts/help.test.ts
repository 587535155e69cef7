// Every command of scripts/, asked what it does, and called as nobody should.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/workspace/paths.ts";
import { run } from "../../scripts/workspace/run.ts";

jest.setTimeout(60_000);

const commands = readdirSync(join(root, "scripts")).flatMap((file) => /^(\w+)\.ts$/.exec(file)?.[1] ?? []);
const home = mkdtempSync(join(tmpdir(), "sluice-help-"));
afterAll(() => rmSync(home, { recursive: true }));

/** Without any program on PATH and with folders of its own: whatever it did would fail or be seen. */
function call(command: string, ...args: readonly string[]) {
  const env = { PATH: "", HOME: home, SLUICE_WORK: join(home, "work"), SLUICE_CACHE: join(home, "cache") };
  return run(process.execPath, ["--disable-warning=ExperimentalWarning", `scripts/${command}.ts`, ...args], {
    cwd: root,
    env,
  });
}

describe("a command of scripts/", () => {
  test.each(commands)("%s tells with --help how it is called, and does nothing", async (command) => {
    const ended = await call(command, "--help");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^(npm (run [\w|]+|start|test)( --)?|node scripts\/run\.mjs \w+)/);
    expect(readdirSync(home)).toEqual([]);
  });

  test.each(["preview", "up", "refresh", "destroy"])("pulumi %s does so too", async (command) => {
    const ended = await call("pulumi", command, "--help");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(new RegExp(`^npm run ${command} -- <environment>`));
    expect(readdirSync(home)).toEqual([]);
  });

  // The CLI knows its own options and says what it does not know.
  test.each(commands.filter((command) => command !== "pulumi"))("%s refuses what it does not know", async (command) => {
    for (const args of [["--no-such-option"], ["dev", "no-such-thing", "at-all", "whatever"]]) {
      const { code, stderr } = await call(command, ...args);
      expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringMatching(/^sluice: /) });
      expect(stderr).not.toContain("    at ");
    }
    expect(readdirSync(home)).toEqual([]);
  });
});
