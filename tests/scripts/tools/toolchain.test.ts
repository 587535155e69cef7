// The rest of `npm run toolchain`: --help, --list, --prune, and invalid arguments.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

let checkout: Checkout;
let other: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
  other = makeCheckout(checkout);
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
});
afterAll(() => checkout.remove());

const said = async (...args: readonly string[]) => {
  const ended = await checkout.run("toolchain", ...args);
  expect(ended.stderr).toBe("");
  expect(ended.code).toBe(0);
  return ended.stdout;
};

describe("npm run toolchain", () => {
  test("--help lists options and tools, and does nothing", async () => {
    const help = await said("--help");
    for (const text of ["--list", "--prune", checkout.cache, "SLUICE_CACHE", "pulumi, plugins, kubernetes"]) {
      expect(help).toContain(text);
    }
    expect(existsSync(checkout.cache)).toBe(false);
  });

  test.each([
    [["helmm", "pulumi"], "sluice: unknown tool helmm. See --help.\n"],
    [["--lst"], /^sluice: Unknown option '--lst'.*\n$/],
  ])("%j is refused, and builds nothing", async (args, message) => {
    const ended = await checkout.run("toolchain", ...args);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(message);
    expect(checkout.calls()).toEqual([]);
  });

  test("builds everything that `npm start` needs if no tool is named", async () => {
    expect(await checkout.run("toolchain")).toMatchObject({ code: 0 });
    const builds = checkout.calls().filter((call) => call.startsWith("go build"));
    expect(builds.map((call) => basename(/-o (.*) \S+$/.exec(call)?.[1] ?? ""))).toEqual([
      "pulumi",
      "all-plugins",
      "pulumi-resource-kubernetes",
      "pulumi-language-nodejs",
      "pulumi-resource-command",
      "controlplane",
      "source-controller",
      "kustomize-controller",
      "helm-controller",
      "sealed-secrets-controller",
      "csi-provisioner",
      "sluice-lab",
    ]);
    expect(checkout.entries("charts")).toHaveLength(1);
  });
});

describe("npm run toolchain -- --list", () => {
  const rows = (text: string) =>
    Object.fromEntries(
      text
        .split("\n")
        .map((line) => /^(.+?) {2,}(\S+) {2,}(?:(\d+ MB) +)?(.*)$/.exec(line))
        .filter((match) => match !== null)
        .map(([, tool, version, size, from]) => [tool, [version, size, from]]),
    );

  test("shows each tool with its version, where it came from and its size", async () => {
    const before = rows(await said("--list"));
    expect(before).toMatchObject({
      TOOL: ["VERSION", undefined, "SIZE  WHERE FROM"],
      pulumi: ["3.9.1", undefined, "not built yet"],
      command: ["0.9.2", undefined, "not built yet"],
    });
    await checkout.run("toolchain", "pulumi", "plugins");
    truncateSync(join(checkout.entries("plugins")[0] ?? "", "all-plugins"), 1);
    const after = rows(await said("--list"));
    expect(after.pulumi).toEqual(["3.9.1", "0 MB", expect.stringMatching(/^built with go1\.26\.8 in \d s$/)]);
    expect(after.plugins).toEqual(["3.5.0", undefined, "damaged: all-plugins is not what was built"]);
    expect(after.kubernetes).toEqual(["4.2.0", undefined, "not built yet"]);
  });

  test("shows the real source of each plugin", async () => {
    const list = rows(await said("--list"));
    expect(list["plugin talos"]).toEqual([
      "0.8.1",
      undefined,
      "replaced by plugins: Terraform provider talos 0.10.1 with Talos machinery 1.13.8, " +
        "installed under the official version",
    ]);
    expect(list["plugin command"]).toEqual([
      "0.9.2",
      undefined,
      "replaced by command: the official plugin's own source",
    ]);
    checkout.install("pulumi");
    await checkout.run("prepare");
    expect(rows(await said("--list"))["plugin talos"]).toEqual(["0.8.1", undefined, "downloaded by the engine"]);
  });

  test("shows the CLI on PATH, and whether it is used", async () => {
    checkout.install("pulumi");
    expect(await said("--list")).toMatch(/^pulumi +3\.259\.0 +PATH$/m);
    checkout.on("pulumi version", "echo v3.1.0; exit");
    expect(await said("--list")).toMatch(/^pulumi +3\.1\.0 +PATH, but not used: must be >=3\.220\.0 <4\.0\.0$/m);
  });
});

describe("npm run toolchain -- --prune", () => {
  const goMod = () => join(checkout.folder, "toolchain", "pulumi", "go.mod");
  let goModBefore: string;
  beforeAll(() => {
    goModBefore = readFileSync(goMod(), "utf8");
  });
  beforeEach(() => writeFileSync(goMod(), goModBefore));

  test("keeps the programs and removes everything that only building needs, even if it is read-only", async () => {
    await checkout.run("toolchain", "pulumi");
    const cached = join(checkout.cache, "go", "mod", "example.invalid", "x@v1");
    mkdirSync(cached, { recursive: true });
    writeFileSync(join(cached, "big"), Buffer.alloc(2 ** 26), { mode: 0o444 });
    // Like go's module cache. Without go on PATH, it is removed all the same.
    rmSync(join(checkout.env.PATH ?? "", "go"));
    chmodSync(cached, 0o555);
    expect(await said("--prune")).toBe(
      `No unused tools.\nFreed 0.1 GiB; 0.0 GiB of programs stay in ${checkout.cache}.\n`,
    );
    expect(["go", "logs", "building"].filter((name) => existsSync(join(checkout.cache, name)))).toEqual([]);
    expect(await checkout.run("toolchain", "pulumi")).toMatchObject({ code: 0, stderr: "" });
  });

  test("keeps what other checkouts use, until they are gone", async () => {
    await checkout.run("toolchain", "pulumi");
    const [first = ""] = checkout.entries("pulumi");
    // Everything is there for the other checkout, so it builds nothing; its use is recorded all the same.
    expect(await other.run("toolchain", "pulumi")).toMatchObject({ code: 0, stderr: "" });
    writeFileSync(goMod(), `${goModBefore}// another version\n`);
    await checkout.run("toolchain", "pulumi");
    const second = checkout.entries("pulumi").find((entry) => entry !== first) ?? "";

    expect(await said("--prune")).toContain("No unused tools.");
    expect(checkout.entries("pulumi").sort()).toEqual([first, second].sort());
    rmSync(join(other.folder, "toolchain"), { recursive: true });
    expect(await said("--prune")).toContain(`Removed tools/pulumi/${basename(first)}.\n`);
    expect(checkout.entries("pulumi")).toEqual([second]);
  });

  test("removes what this checkout no longer uses, and unreadable records of users", async () => {
    await checkout.run("toolchain", "pulumi");
    const [first = ""] = checkout.entries("pulumi");
    writeFileSync(join(checkout.cache, "users", "broken.json"), '{"checkout":');
    writeFileSync(join(checkout.cache, "users", "odd.json"), "null");
    writeFileSync(goMod(), `${goModBefore}// another version\n`);
    expect(await said("--prune")).toContain(`Removed tools/pulumi/${basename(first)}.\n`);
    expect(existsSync(join(checkout.cache, "users", "broken.json"))).toBe(false);
    expect(existsSync(join(checkout.cache, "users", "odd.json"))).toBe(false);
  });

  test("does nothing if there is no cache", async () => {
    expect(await said("--prune")).toContain("No unused tools.\nFreed ");
  });

  test("waits until a build has ended", async () => {
    checkout.on("go build", 'touch "$FAKE/at-it"; while [ ! -e "$FAKE/go-on" ]; do sleep 0.02; done');
    const build = checkout.start("toolchain", "command");
    await build.reaches(() => existsSync(checkout.fake("at-it")), "go build");
    const prune = checkout.start("toolchain", "--prune");
    await prune.said("waiting for it");
    expect(existsSync(join(checkout.cache, "building"))).toBe(true);
    writeFileSync(checkout.fake("go-on"), "");
    expect(await build.ended).toMatchObject({ code: 0 });
    expect(await prune.ended).toMatchObject({ code: 0 });
    expect(checkout.entries("command")).toHaveLength(1);
  });
});
