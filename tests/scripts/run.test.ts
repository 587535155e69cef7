// scripts/run.mjs, the first step of every npm script, with a fake npm.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "./support/checkout.ts";
import { type Child, runs } from "./support/child.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
  writeFileSync(
    join(checkout.folder, "scripts", "cli", "show.ts"),
    "const shown: string = JSON.stringify({ args: process.argv.slice(2), path: process.env.PATH, exec: process.execPath, compiled: process.env.NODE_COMPILE_CACHE });\nconsole.log(shown);\n",
  );
  writeFileSync(
    join(checkout.folder, "scripts", "tools", "end.ts"),
    `const [how = "", ...signals] = process.argv.slice(2);
     for (const signal of signals) process.on(signal, () => process.exit(40 + signals.indexOf(signal)));
     if (how === "wait") { setInterval(() => undefined, 1000); console.log("ready " + process.pid); }
     else if (how.startsWith("SIG")) process.kill(process.pid, how);
     else process.exit(Number(how));`,
  );
});
beforeEach(() => {
  checkout.reset();
  checkout.install("npm");
});
afterAll(() => checkout.remove());

const run = (command: string, ...args: readonly string[]) => checkout.startByNpm(command, ...args).ended;
const ci = "npm ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error";

describe("npm run <command>", () => {
  test("that does not exist lists the commands", async () => {
    const ended = await run("nothing");
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toBe("sluice: unknown command 'nothing'. Commands: end, lab, prepare, show, toolchain.\n");
  });

  test("runs the command on the Node of node_modules, with its arguments and node_modules/.bin on PATH", async () => {
    const ended = await run("show", "a b", "--c", "");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const { args, path, exec } = JSON.parse(ended.stdout);
    expect(args).toEqual(["a b", "--c", ""]);
    expect(exec).toBe(process.execPath);
    const modules = join(checkout.folder, "node_modules");
    expect(path.split(":")).toEqual([
      join(modules, `node-${process.platform}-${process.arch}`, "bin"),
      join(modules, ".bin"),
      checkout.env.PATH,
    ]);
  });

  test("keeps Node's compile cache inside node_modules, unless the user sets another place", async () => {
    const { stdout } = await run("show");
    expect(JSON.parse(stdout).compiled).toBe(checkout.env.NODE_COMPILE_CACHE);
    delete checkout.env.NODE_COMPILE_CACHE;
    const alone = await run("show");
    const folder = join(checkout.folder, "node_modules", ".cache", "node");
    expect(JSON.parse(alone.stdout).compiled).toBe(folder);
    expect(readdirSync(folder)).not.toEqual([]);
  });

  test.each([
    ["0", 0],
    ["7", 7],
    ["SIGTERM", 143],
    ["SIGKILL", 137],
  ])("has the command's exit code: %s", async (how, code) => {
    expect(await run("end", how)).toMatchObject({ code });
  });
});

describe("a signal to npm run", () => {
  const startWaiting = async (...handled: readonly string[]): Promise<[Child, number]> => {
    const child = checkout.startByNpm("end", "wait", ...handled);
    const pid = await child.says(/ready (\d+)\n/);
    return [child, Number(pid)];
  };

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("of the kind %s is passed on, and ends both", async (signal, code) => {
    const [child, pid] = await startWaiting();
    child.kill(signal);
    expect(await child.ended).toMatchObject({ code });
    expect(runs(pid)).toBe(false);
  });

  test("leaves the exit code to the command", async () => {
    const [child] = await startWaiting("SIGINT", "SIGTERM");
    child.kill("SIGTERM");
    expect(await child.ended).toMatchObject({ code: 41 });
  });

  test("from the terminal is not passed on: the command has already got it, and to the engine a second one means 'at once'", async () => {
    const [child, pid] = await startWaiting("SIGINT", "SIGTERM");
    child.kill("SIGINT");
    child.kill("SIGTERM");
    // With both signals it would have ended by the first.
    expect(await child.ended).toMatchObject({ code: 41 });
    expect(runs(pid)).toBe(false);
  });

  test("from the terminal leaves the exit code to the command", async () => {
    const [child] = await startWaiting("SIGINT");
    child.killGroup("SIGINT");
    expect(await child.ended).toMatchObject({ code: 40 });
  });
});

describe("installing the npm packages", () => {
  test("is skipped when nothing has changed", async () => {
    expect(await run("end", "0")).toMatchObject({ code: 0, stderr: "" });
    expect(checkout.calls()).toEqual([]);
  });

  test.each<[string, () => void]>([
    ["the lock file has changed", () => appendFileSync(join(checkout.folder, "package-lock.json"), "\n")],
    ["node_modules is missing", () => rmSync(join(checkout.folder, "node_modules"), { recursive: true })],
    ["it did not complete", () => rmSync(join(checkout.folder, "node_modules", ".sluice-lock"))],
    [
      "Node is missing",
      () =>
        rmSync(join(checkout.folder, "node_modules", `node-${process.platform}-${process.arch}`), { recursive: true }),
    ],
  ])("runs npm ci when %s; and then not again", async (_, change) => {
    change();
    const ended = await run("end", "0");
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(
      /^sluice: installing npm packages \(.*\) \.\.\.\nsluice: npm packages installed in \d+ s\n$/,
    );
    expect(checkout.calls()).toEqual([ci]);
    expect(await run("end", "0")).toMatchObject({ code: 0, stderr: "" });
    expect(checkout.calls()).toEqual([]);
  });

  test("prints nothing on standard output, and installs development packages whatever the environment sets", async () => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    checkout.env.NODE_ENV = "production";
    checkout.on("npm ci", 'echo "as $NODE_ENV"');
    const ended = await run("end", "0");
    expect(ended).toMatchObject({ code: 0, stdout: "" });
    expect(ended.stderr).toContain("\nas development\n");
  });

  test.each([
    ["echo 'ERR! network' >&2; exit 3", "it ended with 3"],
    ["kill -9 $$", "it ended with SIGKILL"],
  ])("that fails is reported with the command that repeats it, and repeated by the next run", async (shell, cause) => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    checkout.on("npm ci", shell);
    for (const _ of [1, 2]) {
      const ended = await run("end", "0");
      expect(ended.code).toBe(1);
      expect(ended.stderr).toContain(
        `sluice: npm ci failed: ${cause}. To repeat it: cd '${checkout.folder}' && ` +
          "npm ci --ignore-scripts --include=dev --include=optional\n",
      );
      expect(checkout.calls()).toEqual([ci]);
    }
  });

  test("without npm on PATH reports where to get it", async () => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    rmSync(join(checkout.env.PATH ?? "", "npm"));
    expect(await run("end", "0")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sluice: npm is not on PATH. It comes with Node: https://nodejs.org\n"),
    });
  });

  test("without a Node package for this platform lists the platforms", async () => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    checkout.on("npm ci", "mkdir node_modules; exit 0");
    const ended = await run("end", "0");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("It runs on linux-x64 and linux-arm64; package.json lists them");
  });

  test("runs once for two runs that start together", async () => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    checkout.on("npm ci", 'touch "$FAKE/at-it"; while [ ! -e "$FAKE/go-on" ]; do sleep 0.02; done');
    const first = checkout.startByNpm("end", "0");
    await first.reaches(() => existsSync(checkout.fake("at-it")), "npm ci");
    const second = checkout.startByNpm("end", "0");
    await second.said("another run installs npm packages here; waiting for it\n");
    writeFileSync(checkout.fake("go-on"), "");
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(checkout.calls()).toEqual([ci]);
  });

  test("does not wait for a run that was killed", async () => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    checkout.on("npm ci", 'touch "$FAKE/at-it"; exec sleep 600');
    const killed = checkout.startByNpm("end", "0");
    await killed.reaches(() => existsSync(checkout.fake("at-it")), "npm ci");
    killed.killGroup("SIGKILL");
    await killed.ended;
    const mark = join(checkout.folder, ".work", "installing");
    expect(readFileSync(mark, "utf8")).toBe(String(killed.pid));
    checkout.on("npm ci", "");
    const next = await run("end", "0");
    expect(next).toMatchObject({ code: 0 });
    expect(next.stderr).not.toContain("waiting");
    expect(existsSync(mark)).toBe(false);
  });

  test("waits for a mark that it cannot read", async () => {
    rmSync(join(checkout.folder, "node_modules"), { recursive: true });
    const mark = join(checkout.folder, ".work", "installing");
    mkdirSync(join(checkout.folder, ".work"), { recursive: true });
    writeFileSync(mark, "");
    const waiting = checkout.startByNpm("end", "0");
    await waiting.said("waiting for it");
    rmSync(mark);
    expect(await waiting.ended).toMatchObject({ code: 0 });
  });
});
