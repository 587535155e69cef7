import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { type Child, runs, until } from "../support/child.ts";

let checkout: Checkout;
let compilers: number[];
beforeAll(() => {
  checkout = makeCheckout();
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
  compilers = [];
});
afterEach(() => {
  for (const pid of compilers) if (runs(pid)) process.kill(pid, "SIGKILL");
});
afterAll(() => checkout.remove());

/** Starts a build that goes on until `letGo`, and returns once go is at it. */
async function startBuild(begin: () => Child, before = ""): Promise<Child> {
  const note = checkout.fake("compiling");
  checkout.on("go build", `${before}\necho $$ >"${note}"\nwhile [ ! -e "$FAKE/go-on" ]; do sleep 0.02; done`);
  const child = begin();
  await until(() => existsSync(note) && readFileSync(note, "utf8").endsWith("\n"), "go build");
  compilers.push(Number(readFileSync(note, "utf8")));
  return child;
}

const letGo = () => writeFileSync(checkout.fake("go-on"), "");
const compilerIsGone = () => until(() => !compilers.some(runs), "the end of go");
const builds = () => checkout.calls().filter((call) => call.startsWith("go build"));

describe("two runs at once", () => {
  test("build once: the second waits for the first, says so, and uses what it made", async () => {
    const first = await startBuild(() => checkout.start("toolchain", "command"));
    // What is not whole is not there.
    expect(checkout.entries("command")).toEqual([]);
    const second = checkout.start("toolchain", "command");
    await second.said(`another run is at work in ${checkout.cache} (process ${first.pid}); waiting for it\n`);
    letGo();
    expect(await first.ended).toMatchObject({ code: 0 });
    const ended = await second.ended;
    expect(ended).toMatchObject({ code: 0, stdout: "sluice: the tools are ready; --list shows them\n" });
    expect(ended.stderr.split("\n")).toHaveLength(2);
    expect(builds()).toHaveLength(1);
  });
});

describe("kill -9 in the middle of a build", () => {
  test("leaves nothing in the way: the next run begins at once and ends right", async () => {
    const killed = await startBuild(() => checkout.start("toolchain", "command"));
    killed.kill("SIGKILL");
    expect(await killed.ended).toMatchObject({ signal: "SIGKILL" });
    expect(checkout.entries("command")).toEqual([]);

    checkout.on("go build", "");
    const next = await checkout.run("toolchain", "command");
    expect(next).toMatchObject({ code: 0 });
    expect(next.stderr).not.toContain("waiting");
    const [entry = ""] = checkout.entries("command");
    const program = readFileSync(join(entry, "pulumi-resource-command"));

    // The go that lost its run comes to its end as well, and spoils nothing.
    letGo();
    await compilerIsGone();
    expect(readFileSync(join(entry, "pulumi-resource-command"))).toEqual(program);
    expect(await checkout.run("toolchain", "command")).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a run that is told to end", () => {
  test("by Ctrl-C in a terminal ends go as well, exits as a shell expects, and can be taken up again", async () => {
    const run = await startBuild(() => checkout.startByNpm("toolchain", "command"));
    run.killGroup("SIGINT");
    const ended = await run.ended;
    expect(ended).toMatchObject({ code: 130, stdout: "" });
    expect(ended.stderr).toMatch(/\nsluice: ended by SIGINT\n$/);
    expect(ended.stderr).not.toContain("could not be built");
    await compilerIsGone();

    checkout.on("go build", "");
    expect(await checkout.run("toolchain", "command")).toMatchObject({ code: 0 });
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("by %s to the first process alone ends go as well", async (signal, code) => {
    // Go is told by the one signal on which it puts its things away.
    const heed = "trap 'echo told >\"$FAKE/told\"; exit 1' INT";
    const run = await startBuild(() => checkout.startByNpm("toolchain", "command"), heed);
    run.kill(signal);
    const ended = await run.ended;
    expect(ended).toMatchObject({ code });
    expect(ended.stderr).not.toContain("could not be built");
    await compilerIsGone();
    expect(existsSync(checkout.fake("told"))).toBe(true);
  });

  test("a second time does not wait for what does not heed the first", async () => {
    const run = await startBuild(() => checkout.start("toolchain", "command"), "trap '' INT");
    run.kill("SIGINT");
    // Not before the first has been taken: two signals of a kind that wait are one.
    await until(() => !(pending(run.pid) & 2n), "the first signal to be taken");
    run.kill("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 143 });
    await compilerIsGone();
  });

  test("while it waits for another run ends at once", async () => {
    await startBuild(() => checkout.start("toolchain", "command"));
    const waiting = checkout.start("toolchain", "command");
    await waiting.said("waiting for it");
    waiting.kill("SIGINT");
    expect(await waiting.ended).toMatchObject({ signal: "SIGINT" });
    letGo();
  });
});

/** The signals that a process has been sent and has not taken yet, a bit each. */
function pending(pid: number): bigint {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const sets = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*(\w+)$/gm)].map(([, set]) => BigInt(`0x${set}`));
  return sets.reduce((all, set) => all | set, 0n);
}
