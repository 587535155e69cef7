import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { run } from "../../../scripts/base/run.ts";
import { runs, start, until } from "../support/child.ts";

const base = join(import.meta.dirname, "..", "..", "..", "scripts", "base");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-run-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs TypeScript in a separate Node, in which `run` and the rest are available. */
const script = (text: string) =>
  start(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module-typescript",
      "--eval",
      `import { run, runAttached } from ${JSON.stringify(join(base, "run.ts"))};
       import { Failure, main } from ${JSON.stringify(join(base, "fail.ts"))};
       import * as paths from ${JSON.stringify(join(base, "paths.ts"))};
       ${text}`,
    ],
    { PATH: process.env.PATH, ...environment },
  );
let environment: NodeJS.ProcessEnv = {};

describe("a program that is run", () => {
  test("returns its exit code and its output, which can be read as it comes", async () => {
    const heard: string[] = [];
    const ended = await run("sh", ["-c", "echo out; echo err >&2; exit 7"], {
      onOutput: (text, stream) => heard.push(`${stream} ${text}`),
    });
    expect(ended).toEqual({ code: 7, stdout: "out\n", stderr: "err\n", cut: undefined });
    expect(heard.sort()).toEqual(["stderr err\n", "stdout out\n"]);
  });

  test("has the exit code of a shell when a signal ends it", async () => {
    expect(await run("sh", ["-c", "kill -TERM $$"])).toMatchObject({ code: 143 });
  });

  test("has output in complete characters", async () => {
    const { stdout } = await run("sh", ["-c", "printf '\\303'; sleep 0.05; printf '\\274'"]);
    expect(stdout).toBe("ü");
  });

  test("that does not exist is an error", async () => {
    await expect(run("/no/such/program", [])).rejects.toThrow("ENOENT");
  });

  test("is ended after its time, without waiting for children that keep its output open", async () => {
    const note = join(folder, "child");
    const ended = await run("sh", ["-c", `sleep 600 & echo $! >"${note}.new"; mv "${note}.new" "${note}"; wait`], {
      timeout: 300,
    });
    expect(ended).toMatchObject({ code: 130, cut: "timeout" });
    await run("sh", ["-c", `[ ! -e "${note}" ] || kill -9 $(cat "${note}")`]);
  });
});

describe("a program whose time is up", () => {
  test("gets a signal to end, and cleans up", async () => {
    const shell = "trap 'echo in order; exit 4' INT; while :; do sleep 0.02; done";
    const ended = await run("sh", ["-c", shell], { timeout: 300 });
    expect(ended).toEqual({ code: 4, stdout: "in order\n", stderr: "", cut: "timeout" });
  });

  test("is killed after its grace period", async () => {
    const ended = await run("sh", ["-c", "trap '' INT; while :; do sleep 0.02; done"], { timeout: 300, grace: 100 });
    expect(ended).toMatchObject({ code: 137, cut: "timeout" });
  });

  // Packer drops everything that it has created when it gets a second signal.
  test("that has its own grace period gets one signal, even from a terminal that sends it to all processes", async () => {
    const note = join(folder, "once");
    const shell = `trap 'echo asked' INT; echo >"${note}"; for i in $(seq 30); do sleep 0.02; done; exit 0`;
    const child = script(
      `await run("sh", ["-c", ${JSON.stringify(shell)}], { grace: 60_000, onOutput: console.log });`,
    );
    await child.reaches(() => existsSync(note), "the program");
    child.killGroup("SIGINT");
    const ended = await child.ended;
    expect(ended).toMatchObject({ code: 130, stderr: "\nsluice: ended by SIGINT\n" });
    expect(ended.stdout.match(/asked/g)).toHaveLength(1);
  });
});

describe("a finished command is not kept alive", () => {
  test.each([
    ["by the time that a program had", 'await run("true", [], { timeout: 600_000, stall: 600_000 });'],
    [
      "by the time that a program had which is not there",
      'await run("no-such-program", [], { timeout: 600_000, stall: 600_000 }).catch(() => undefined);',
    ],
    ["by children of a program that was ended", 'await run("sh", ["-c", "sleep 5 & wait"], { timeout: 100 });'],
  ])("%s", async (_, text) => {
    const started = Date.now();
    expect(await script(`${text} console.log("end");`).ended).toMatchObject({ code: 0, stdout: "end\n" });
    expect(Date.now() - started).toBeLessThan(4_900);
  });
});

describe("a program that has the terminal", () => {
  test.each([
    ["SIGTERM", "TERM"],
    ["SIGHUP", "HUP"],
  ] as const)("gets %s, and ends in its own way", async (signal, name) => {
    const note = join(folder, name);
    const shell = `trap 'exit 9' ${name}; echo >"${note}"; while :; do sleep 0.02; done`;
    const child = script(`process.exitCode = await runAttached("sh", ["-c", ${JSON.stringify(shell)}]);`);
    await child.reaches(() => existsSync(note), "the program");
    child.kill(signal);
    expect(await child.ended).toMatchObject({ code: 9 });
  });

  test("is waited for on Ctrl-C", async () => {
    const note = join(folder, "INT");
    const shell = `trap 'echo done; exit 5' INT; echo >"${note}"; while :; do sleep 0.02; done`;
    const child = script(`process.exitCode = await runAttached("sh", ["-c", ${JSON.stringify(shell)}]);`);
    await child.reaches(() => existsSync(note), "the program");
    child.killGroup("SIGINT");
    expect(await child.ended).toMatchObject({ code: 5, stdout: "done\n" });
    await until(() => !runs(child.pid), "the end");
  });
});

describe("a command of scripts/ that fails", () => {
  test.each([
    ["a Failure", 'throw new Failure("no such node");', "sluice: no such node\n"],
    [
      "a faulty config",
      'throw Object.assign(new Error("nodes: missing"), { __pulumiRunError: true });',
      "sluice: nodes: missing\n",
    ],
    [
      "a misspelt option",
      'const { parseArgs } = await import("node:util"); parseArgs({ args: ["--lst"], options: {} });',
      /^sluice: Unknown option '--lst'.*\n$/,
    ],
  ])("by %s prints one message", async (_, text, message) => {
    const ended = await script(`await main(async () => { ${text} });`).ended;
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toContain(" at ");
  });

  test("by a bug of ours shows where", async () => {
    const ended = await script('await main(async () => { throw new TypeError("x is undefined"); });').ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("TypeError: x is undefined\n    at ");
  });

  test("exits with the code that it returns", async () => {
    expect(await script("await main(async () => 3);").ended).toMatchObject({ code: 3, stderr: "" });
  });
});

describe("the folders", () => {
  const folders = async (env: NodeJS.ProcessEnv) => {
    environment = env;
    const ended = await script("console.log(JSON.stringify([paths.workFolder, paths.cacheFolder]));").ended;
    environment = {};
    return JSON.parse(ended.stdout);
  };
  const root = join(base, "..", "..");

  test.each<[string, NodeJS.ProcessEnv, [string, string]]>([
    ["lie in the checkout and the home", { HOME: "/h" }, [join(root, ".work"), "/h/.cache/sluice"]],
    ["follow XDG", { HOME: "/h", XDG_CACHE_HOME: "/x" }, [join(root, ".work"), "/x/sluice"]],
    ["can be named", { XDG_CACHE_HOME: "/x", SLUICE_CACHE: "/c", SLUICE_WORK: "/w" }, ["/w", "/c"]],
    [
      "are not named by nothing",
      { HOME: "/h", SLUICE_CACHE: "", SLUICE_WORK: "" },
      [join(root, ".work"), "/h/.cache/sluice"],
    ],
    [
      "may be named relative to where the command runs",
      { SLUICE_CACHE: "c", SLUICE_WORK: "../w" },
      [join(process.cwd(), "..", "w"), join(process.cwd(), "c")],
    ],
  ])("%s", async (_, env, expected) => {
    expect(await folders(env)).toEqual(expected);
  });
});
