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

/** Starts a build that runs until `release`, and returns once go runs. */
async function startBuild(begin: () => Child, before = ""): Promise<Child> {
  const note = checkout.fake("compiling");
  checkout.on("go build", `${before}\necho $$ >"${note}"\nwhile [ ! -e "$FAKE/go-on" ]; do sleep 0.02; done`);
  const child = begin();
  await until(() => existsSync(note) && readFileSync(note, "utf8").endsWith("\n"), "go build");
  compilers.push(Number(readFileSync(note, "utf8")));
  return child;
}

const release = () => writeFileSync(checkout.fake("go-on"), "");
const compilerIsGone = () => until(() => !compilers.some(runs), "the end of go");
const builds = () => checkout.calls().filter((call) => call.startsWith("go build"));

describe("two runs at once", () => {
  test("build once: the second waits for the first, reports that, and uses its result", async () => {
    const first = await startBuild(() => checkout.start("toolchain", "command"));
    // An incomplete entry does not exist.
    expect(checkout.entries("command")).toEqual([]);
    const second = checkout.start("toolchain", "command");
    await second.said(`another run is building in ${checkout.cache} (process ${first.pid}); waiting for it\n`);
    release();
    expect(await first.ended).toMatchObject({ code: 0 });
    const ended = await second.ended;
    expect(ended).toMatchObject({ code: 0, stdout: "sluice: the tools are ready; --list shows them\n" });
    expect(ended.stderr.split("\n")).toHaveLength(2);
    expect(builds()).toHaveLength(1);
  });
});

describe("kill -9 in the middle of a build", () => {
  test("blocks nothing: the next run starts at once and succeeds", async () => {
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

    // The go process that lost its parent ends as well, and damages nothing.
    release();
    await compilerIsGone();
    expect(readFileSync(join(entry, "pulumi-resource-command"))).toEqual(program);
    expect(await checkout.run("toolchain", "command")).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a run that gets a signal", () => {
  test("by Ctrl-C in a terminal ends go as well, has the exit code that shells expect, and can be resumed", async () => {
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
    // Go gets the only signal on which it cleans up.
    const onSignal = "trap 'touch \"$FAKE/cleaned-up\"; exit 1' INT";
    const run = await startBuild(() => checkout.startByNpm("toolchain", "command"), onSignal);
    run.kill(signal);
    const ended = await run.ended;
    expect(ended).toMatchObject({ code });
    expect(ended.stderr).not.toContain("could not be built");
    await compilerIsGone();
    expect(existsSync(checkout.fake("cleaned-up"))).toBe(true);
  });

  test("a second time does not wait for a child that ignored the first", async () => {
    const run = await startBuild(() => checkout.start("toolchain", "command"), "trap '' INT");
    run.kill("SIGINT");
    // Not before the first was received: two pending signals of one kind count as one.
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
    release();
  });
});

/** The signals that a process was sent and has not received yet, as a bit mask. */
function pending(pid: number): bigint {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const sets = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*(\w+)$/gm)].map(([, set]) => BigInt(`0x${set}`));
  return sets.reduce((all, set) => all | set, 0n);
}
