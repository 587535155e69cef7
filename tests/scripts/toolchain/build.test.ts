import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { start } from "../support/child.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
});
afterAll(() => checkout.remove());

const builds = () => checkout.calls().filter((call) => call.startsWith("go build"));

describe("building a tool", () => {
  test("leaves its programs, links and scripts with a description of them, and nothing else", async () => {
    expect(await checkout.run("toolchain", "pulumi", "plugins")).toMatchObject({ code: 0, signal: null });
    const [pulumi = ""] = checkout.entries("pulumi");
    expect(readdirSync(pulumi).sort()).toEqual(["entry.json", "pulumi", "wrapper"]);
    expect(readFileSync(join(pulumi, "pulumi"), "utf8")).toBe("#!/bin/sh\necho pulumi runs\n");
    const entry = JSON.parse(readFileSync(join(pulumi, "entry.json"), "utf8"));
    expect(entry).toMatchObject({ tool: "pulumi", version: "3.9.1", go: "go1.26.8", bytes: 27 });
    expect(pulumi.endsWith(entry.key)).toBe(true);

    const [plugins = ""] = checkout.entries("plugins");
    expect(readlinkSync(join(plugins, "pulumi-resource-hcloud"))).toBe("all-plugins");
    expect(existsSync(join(checkout.cache, "building"))).toBe(false);
  });

  test("happens once: the next run calls no program and prints only that everything is ready", async () => {
    await checkout.run("toolchain", "pulumi", "command");
    expect(builds()).toHaveLength(2);
    const again = await checkout.run("toolchain", "pulumi", "command");
    expect(again).toMatchObject({ code: 0, stdout: "sluice: the tools are ready; --list shows them\n", stderr: "" });
    expect(checkout.calls()).toEqual([]);
  });

  test("needs no Go once everything is built", async () => {
    await checkout.run("toolchain", "command");
    const withoutGo = { ...checkout.env, PATH: "/nowhere" };
    const script = join(checkout.folder, "scripts", "tools", "toolchain.ts");
    expect(await start(process.execPath, [script, "command"], withoutGo).ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("compiles the version in, in every requested form", async () => {
    await checkout.run("toolchain", "pulumi", "command");
    expect(builds().map((call) => /-ldflags (.*) -v /.exec(call)?.[1])).toEqual([
      "-s -w -X main.full=v3.9.1 -X main.plain=3.9.1 -X main.major=3 -X main.minor=9",
      "-s -w -X main.version=0.9.2",
    ]);
  });

  test("uses the module file that the tool names", async () => {
    await checkout.run("toolchain", "language-host", "command");
    const calls = checkout.calls().filter((call) => /^go (list|build)/.test(call));
    const ofHost = calls.filter((call) => call.endsWith(" example.invalid/host"));
    expect(ofHost.map((call) => / -modfile=\S+/.exec(call)?.[0])).toEqual(ofHost.map(() => " -modfile=v3.mod"));
    expect(ofHost.filter((call) => call.startsWith("go build"))).toHaveLength(1);
    expect(calls.filter((call) => !ofHost.includes(call) && call.includes("-modfile"))).toEqual([]);
  });

  test("runs go with separate caches and temporary folder, an unchanged go.sum, and for this platform", async () => {
    Object.assign(checkout.env, { GOFLAGS: "-mod=mod", GOOS: "plan9", GOWORK: "/else", GO111MODULE: "off" });
    checkout.on("go build", 'env >"$FAKE/env"; [ -d "$GOTMPDIR" ] || exit 1');
    expect(await checkout.run("toolchain", "command")).toMatchObject({ code: 0 });
    const lines = readFileSync(checkout.fake("env"), "utf8").split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        `GOMODCACHE=${checkout.cache}/go/mod`,
        `GOCACHE=${checkout.cache}/go/build`,
        `GOTMPDIR=${checkout.cache}/building/tmp`,
        "GOFLAGS=-mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false",
        "GOWORK=off",
        `GOOS=${process.platform}`,
        "GO111MODULE=on",
      ]),
    );
    expect(lines.filter((line) => /^GO(NOSUMDB|NOSUMCHECK|INSECURE|SUMDB|PRIVATE|PROXY)=/.test(line))).toEqual([]);
  });

  test("builds a copy with the edits and files that its module needs, and does not change the checkout", async () => {
    checkout.on("go build", 'cp -R . "$FAKE/stage"');
    expect(await checkout.run("toolchain", "kubernetes")).toMatchObject({ code: 0 });
    const stage = checkout.fake("stage");
    expect(readFileSync(join(stage, "patched", "sdk", "pkg", "a.go"), "utf8")).toBe("new\nnot old\nnew\n");
    expect(readFileSync(join(stage, "embedded", "schema.json"), "utf8")).toBe("{}\n");
    expect(readdirSync(join(checkout.folder, "toolchain", "kubernetes")).sort()).toEqual([
      "go.mod",
      "go.sum",
      "main.go",
    ]);
  });

  test("stops if a module no longer matches the edits", async () => {
    const file = checkout.fake("changed", "pkg", "a.go");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "old\n");
    checkout.on("go mod", `printf '{"Dir":"%s"}' "$FAKE/changed"; exit`);
    const ended = await checkout.run("toolchain", "kubernetes");
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain("sluice: pkg/a.go of sdk has changed: ^old$ matches 1 times instead of 2.");
    expect(checkout.entries("kubernetes")).toEqual([]);
  });

  test("follows the order of the list, and counts the steps", async () => {
    const { stderr } = await checkout.run("toolchain", "command", "pulumi");
    const [announcement, first, ...lines] = stderr.trimEnd().split("\n");
    expect(announcement).toBe(
      "sluice: building pulumi, command from Go modules, once, into " +
        `${checkout.cache}: 2m00s on two idle cores with empty caches, less with full ones. ` +
        "Ctrl-C is safe: the next run resumes.",
    );
    expect(first).toBe("[1/2] building pulumi 3.9.1, 0s, about 2m00s left (a fixture)");
    // The second starts while the first is linked.
    expect(lines.sort()).toEqual([
      expect.stringMatching(/^\[1\/2] building pulumi 3\.9\.1: done in \ds$/),
      expect.stringMatching(/^\[2\/2] building command 0\.9\.2, .*about \S+ left \(a fixture\)$/),
      expect.stringMatching(/^\[2\/2] building command 0\.9\.2: done in \ds$/),
    ]);
  });

  test("starts to compile the next tool while one is linked, and not before", async () => {
    const wait = (file: string) => `while [ ! -e "$FAKE/${file}" ]; do sleep 0.02; done`;
    // The first compiles its packages, waits, compiles the last one, and links until it is released.
    checkout.on(
      "go build",
      `case $* in *pulumi.out*)
        printf 'example.invalid/%s\\n' a b >&2; touch "$FAKE/compiling"; ${wait("compile")}
        echo example.invalid/c >&2; ${wait("link")};;
      esac`,
    );
    const run = checkout.start("toolchain", "pulumi", "command");
    await run.reaches(() => existsSync(checkout.fake("compiling")), "the first tool");
    // Long enough for the second's modules, which are downloaded meanwhile.
    await run.reaches(
      () => existsSync(join(checkout.cache, "building", "command", "go.mod")),
      "the second tool's modules",
    );
    expect(builds()).toHaveLength(1);
    writeFileSync(checkout.fake("compile"), "");
    await run.said("[2/2] building command 0.9.2: done");
    expect(checkout.entries("pulumi")).toEqual([]);
    writeFileSync(checkout.fake("link"), "");
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(checkout.entries("pulumi")).toHaveLength(1);
  });
});

describe("a tool whose sources are the checkout's own", () => {
  const main = () => join(checkout.folder, "lab", "cmd", "sluice-lab", "main.go");

  test("is built from them, with what they embed", async () => {
    checkout.on("go build", 'cp -R . "$FAKE/stage"');
    expect(await checkout.run("toolchain", "sluice-lab")).toMatchObject({ code: 0 });
    const staged = readdirSync(checkout.fake("stage"), { recursive: true, withFileTypes: true });
    expect(
      staged
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["a.tpl", "go.mod", "go.sum", "kept", "main.go", "values.yaml"]);
    expect(builds()).toEqual([expect.stringMatching(/ \.\/cmd\/sluice-lab$/)]);
  });

  test("is rebuilt after an edit, and what was built before is removed", async () => {
    await checkout.run("toolchain", "sluice-lab", "command");
    const [before = ""] = checkout.entries("sluice-lab");
    const text = readFileSync(main(), "utf8");
    writeFileSync(main(), `${text}// edited\n`);
    expect(await checkout.run("toolchain", "sluice-lab", "command")).toMatchObject({ code: 0 });
    const after = checkout.entries("sluice-lab");
    expect(after).toHaveLength(1);
    expect(after).not.toContain(before);
    expect(checkout.entries("command")).toHaveLength(1);
    writeFileSync(main(), text);
  });

  test("that is edited while it is compiled is built again", async () => {
    const text = readFileSync(main(), "utf8");
    checkout.on("go build", `echo '// edited' >>'${main().replaceAll("'", `'\\''`)}'`);
    expect(await checkout.run("toolchain", "sluice-lab")).toMatchObject({ code: 0 });
    expect(checkout.entries("sluice-lab")).toHaveLength(1);
    checkout.on("go build", "");
    checkout.calls();
    expect(await checkout.run("toolchain", "sluice-lab")).toMatchObject({ code: 0 });
    expect(builds()).toHaveLength(1);
    writeFileSync(main(), text);
  });

  test("that is edited before it is copied is not built under the old key", async () => {
    const text = readFileSync(main(), "utf8");
    checkout.on("go env", `echo '// edited' >>'${main().replaceAll("'", `'\\''`)}'`);
    const ended = await checkout.run("toolchain", "sluice-lab");
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sluice: the sources of sluice-lab were edited just now: run it again.\n"),
    });
    expect(checkout.entries("sluice-lab")).toEqual([]);
    writeFileSync(main(), text);
  });
});

describe("a set of files", () => {
  test("is copied from modules, together with the folder's own files, and nothing is compiled", async () => {
    expect(await checkout.run("toolchain", "charts")).toMatchObject({ code: 0 });
    expect(checkout.calls().filter((call) => !/^go (env|mod download) /.test(call))).toEqual([]);
    const [folder = ""] = checkout.entries("charts");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name))).sort();
    expect(paths).toEqual(
      [
        ...["cilium", "cilium-crds/v2", "cilium-crds/v2alpha1", "flux", "proxmox-csi-plugin", "sealed-secrets"].map(
          (name) => `${name}/chart.yaml`,
        ),
        "cilium/templates/agent/daemonset.yaml",
        ...readdirSync(join(checkout.folder, "toolchain", "charts", "flux")).map((name) => `flux/${name}`),
        "entry.json",
      ].sort(),
    );
    expect(await checkout.run("toolchain", "charts")).toMatchObject({ code: 0, stderr: "" });
  });

  test("is rebuilt if one of its files was changed", async () => {
    await checkout.run("toolchain", "charts");
    const changed = join(checkout.entries("charts")[0] ?? "", "cilium", "chart.yaml");
    writeFileSync(changed, "changed");
    const { stderr } = await checkout.run("toolchain", "charts");
    expect(stderr).toContain("sluice: charts in the cache is damaged (cilium/chart.yaml is not what was built)");
    expect(readFileSync(changed, "utf8")).toBe("install/kubernetes/cilium\n");
  });

  test("that a module no longer has is reported", async () => {
    checkout.on("go mod", `mkdir -p "$FAKE/empty"; printf '{"Dir":"%s"}' "$FAKE/empty"; exit`);
    const ended = await checkout.run("toolchain", "charts");
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sluice: github.com/cilium/cilium has no ** in install/kubernetes/cilium\n"),
    });
  });
});

describe("a build that fails", () => {
  test("shows the end of the real error, where the log is, and a command that repeats it", async () => {
    const failing = [
      "for package in a b; do echo example.invalid/$package >&2; done",
      "echo '# example.invalid/c' >&2",
      'for line in $(cat "$FAKE/lines"); do echo "./d.go:$line:1: undefined: y" >&2; done',
      "exit 1",
    ].join("\n");
    writeFileSync(checkout.fake("lines"), Array.from({ length: 40 }, (_, line) => line + 1).join(" "));
    checkout.on("go build", failing);
    const ended = await checkout.run("toolchain", "command", "pulumi");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    const lines = ended.stderr.split("\n");
    const start = lines.indexOf("sluice: pulumi 3.9.1 could not be built: it does not compile.");
    expect(lines.slice(start + 1, start + 31)).toEqual(
      Array.from({ length: 30 }, (_, line) => `  ./d.go:${line + 11}:1: undefined: y`),
    );
    const log = join(checkout.cache, "logs", "pulumi.log");
    expect(lines[start + 31]).toBe(`Full log: ${log}`);
    expect(readFileSync(log, "utf8")).toMatch(/^pulumi 3\.9\.1 with go1\.26\.8\nexample\.invalid\/a\n(.*\n)*.*:40:1: /);
    expect(ended.stderr).not.toMatch(/^ +at /m);

    const repeat = lines[start + 32]?.replace("To repeat it: ", "") ?? "";
    const repeated = await inShell(repeat);
    expect(repeated).toMatchObject({ code: 1 });
    expect(repeated.stderr).toContain("./d.go:40:1: undefined: y");
    const calls = builds();
    expect(calls).toHaveLength(2);
    expect(calls[0]).toBe(calls[1]);
  });

  test("is built by the next run, once the cause is fixed", async () => {
    checkout.on("go build", "echo broken >&2; exit 1");
    expect(await checkout.run("toolchain", "command")).toMatchObject({ code: 1 });
    expect(checkout.entries("command")).toEqual([]);
    checkout.on("go build", "");
    expect(await checkout.run("toolchain", "command")).toMatchObject({ code: 0 });
    expect(checkout.entries("command")).toHaveLength(1);
  });

  test.each([
    [
      "a module that go.sum refuses",
      "go list",
      "echo 'go: downloading x v1' >&2; echo 'checksum mismatch' >&2; exit 1",
      ["sluice: command 0.9.2 could not be built: cannot download its modules.", "  checksum mismatch"],
    ],
    [
      "go that prints nothing, as when memory runs out",
      "go build",
      "kill -9 $$",
      ["sluice: command 0.9.2 could not be built: it does not compile.", "  go ended with 137 and printed nothing"],
    ],
  ])("reports what stopped it: %s", async (_, call, shell, expected) => {
    checkout.on(call, shell);
    const ended = await checkout.run("toolchain", "command");
    expect(ended.code).toBe(1);
    const lines = ended.stderr.split("\n");
    const start = lines.indexOf(expected[0] ?? "");
    expect(lines.slice(start, start + 3)).toEqual([...expected, expect.stringContaining("Full log: ")]);
    expect(checkout.calls().filter((made) => made.startsWith(call))).toHaveLength(1);
  });

  test("reports the module that cannot be downloaded, and the command that repeats the download", async () => {
    checkout.on("go mod", `printf '{"Error":"not found: v3.9.0"}'; exit 1`);
    const ended = await checkout.run("toolchain", "kubernetes");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(
      "sluice: cannot download example.invalid/sdk v3.9.0: not found: v3.9.0\nTo repeat it: cd ",
    );
    expect(ended.stderr).toMatch(/ go mod download -json example\.invalid\/sdk@v3\.9\.0\n$/);
  });
});

describe("a machine that cannot build", () => {
  test.each([
    ["go env", "echo go1.22.12; exit", "go on PATH is go1.22.12"],
    ["go env", "echo 'cannot find GOROOT' >&2; exit 2", "go on PATH does not report its version: cannot find GOROOT"],
  ])("gets a message with what to do: %s, %s", async (call, shell, found) => {
    checkout.on(call, shell);
    const ended = await checkout.run("toolchain", "command");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(
      `sluice: Go 1.26 or later builds the toolchain, but ${found}. ` +
        "Install it from https://go.dev/dl, or install the Pulumi CLI, and run again.\n",
    );
    expect(ended.stderr).not.toMatch(/^ +at /m);
  });

  test("gets a message that go is missing", async () => {
    rmSync(join(checkout.env.PATH ?? "", "go"));
    const ended = await checkout.run("toolchain", "command");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("but go is not on PATH. Install it from https://go.dev/dl");
  });

  test("gets a message that flock is missing", async () => {
    rmSync(join(checkout.env.PATH ?? "", "flock"));
    const ended = await checkout.run("toolchain", "command");
    expect(ended).toMatchObject({ code: 1, stderr: "sluice: flock is not on PATH: install util-linux.\n" });
  });

  test("gets a message that the cache cannot be written", async () => {
    mkdirSync(checkout.env.HOME ?? "");
    const file = join(checkout.env.HOME ?? "", "file");
    writeFileSync(file, "");
    checkout.env.SLUICE_CACHE = join(file, "cache");
    const ended = await checkout.run("toolchain", "command");
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toMatch(
      /^sluice: cannot write to .*\/file\/cache: ENOTDIR.* SLUICE_CACHE names another folder for the cache\.\n$/,
    );
  });
});

/** Runs a line as if it were copied into a shell. */
function inShell(line: string) {
  return start("sh", ["-c", line], checkout.env).ended;
}
