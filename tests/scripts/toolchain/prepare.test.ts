// Where the CLI and its plugins come from, which depends on what is available: with or without a CLI on PATH, with or without downloads.
import {
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Toolchain } from "../../../scripts/toolchain/toolchain.ts";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import type { Ended } from "../support/child.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
});
afterAll(() => checkout.remove());

const noDownloads = "echo 'could not download: no such host' >&2; exit 255";

interface Prepared extends Ended {
  readonly toolchain: Toolchain;
  /** The tools built. */
  readonly built: string[];
  /** The calls of a CLI on PATH. */
  readonly asked: string[];
}

async function prepare(): Promise<Prepared> {
  const ended = await checkout.run("prepare");
  if (ended.code !== 0) throw new Error(ended.stderr);
  const calls = checkout.calls();
  return {
    ...ended,
    toolchain: JSON.parse(ended.stdout),
    built: calls
      .map((call) => /^go build .*\/building\/(.*)\.out\//.exec(call)?.[1])
      .filter((name) => name !== undefined),
    asked: calls.filter((call) => call.startsWith("pulumi")),
  };
}

const home = () => join(checkout.env.HOME ?? "", ".pulumi");
const ownHome = () => join(checkout.folder, ".work", "pulumi");
const plugins = { talos: "0.8.1", hcloud: "1.41.0", proxmoxve: "8.6.0", kubernetes: "4.27.0", command: "0.9.2" };
const program = (engineHome: string, [name, version]: [string, string]) =>
  join(engineHome, "plugins", `resource-${name}-v${version}`, `pulumi-resource-${name}`);

describe("with a fitting CLI on PATH", () => {
  beforeEach(() => {
    checkout.install("pulumi");
  });

  test("that can download its plugins, nothing is built", async () => {
    const { toolchain, built, asked, stderr } = await prepare();
    expect(toolchain).toMatchObject({ pulumi: "pulumi", origin: { cli: "PATH", plugins: "downloaded" } });
    expect(toolchain.environment.PULUMI_HOME).toBeUndefined();
    expect(toolchain.environment.PULUMI_SKIP_UPDATE_CHECK).toBe("true");
    expect(toolchain.environment.PULUMI_PARALLEL).toBe("32");
    for (const plugin of Object.entries(plugins)) expect(existsSync(program(home(), plugin))).toBe(true);
    expect(built).toEqual([]);
    expect(asked).toEqual([
      "pulumi version",
      "pulumi plugin install resource talos 0.8.1 --server github://api.github.com/pulumiverse",
      "pulumi plugin install resource hcloud 1.41.0",
      "pulumi plugin install resource proxmoxve 8.6.0",
      "pulumi plugin install resource kubernetes 4.27.0",
      "pulumi plugin install resource command 0.9.2",
    ]);
    expect(stderr.split("\n")[0]).toBe("sluice: trying to download the plugin talos 0.8.1");
    expect(existsSync(checkout.cache)).toBe(false);

    const warm = await prepare();
    expect(warm).toMatchObject({ built: [], asked: ["pulumi version"], stderr: "" });
    expect(warm.toolchain.origin).toEqual({ cli: "PATH", plugins: "downloaded" });
  });

  test("plugins are downloaded to the user's own PULUMI_HOME", async () => {
    checkout.env.PULUMI_HOME = join(checkout.env.HOME ?? "", "elsewhere");
    expect((await prepare()).toolchain.environment.PULUMI_HOME).toBe(checkout.env.PULUMI_HOME);
    expect(existsSync(program(checkout.env.PULUMI_HOME, ["command", plugins.command]))).toBe(true);
  });

  test("but no downloads, only the plugins are built, where the engine searches for them", async () => {
    checkout.on("pulumi plugin", noDownloads);
    const { toolchain, built, asked, stderr } = await prepare();
    expect(toolchain.origin).toEqual({ cli: "PATH", plugins: "built" });
    expect(toolchain.environment.PULUMI_HOME).toBe(ownHome());
    expect(toolchain.environment.PATH).toBe(checkout.env.PATH);
    expect(built).toEqual(["plugins", "kubernetes", "command"]);
    // One attempt shows it.
    expect(asked).toHaveLength(2);
    expect(stderr).toContain("sluice: it cannot be downloaded: building the plugins instead\n");
    for (const plugin of Object.entries(plugins)) {
      expect(readFileSync(program(ownHome(), plugin), "utf8")).toMatch(/^#!\/bin\/sh\necho \S+ runs\n$/);
    }

    const warm = await prepare();
    expect(warm).toMatchObject({ built: [], asked: ["pulumi version"], stderr: "" });
    expect(warm.toolchain.origin).toEqual({ cli: "PATH", plugins: "built" });

    // Another checkout, or this one with a new work folder: the cache has them.
    rmSync(ownHome(), { recursive: true });
    expect(await prepare()).toMatchObject({ built: [], asked: ["pulumi version"], stderr: "" });
  });

  test("that downloads one plugin and not the next, all are built, because they must match", async () => {
    checkout.on("pulumi plugin", `[ "$4" = talos ] || { ${noDownloads}; }`);
    const { toolchain, built, asked } = await prepare();
    expect(toolchain.origin.plugins).toBe("built");
    expect(built).toEqual(["plugins", "kubernetes", "command"]);
    expect(asked).toHaveLength(3);
  });

  test.each([
    ["that the engine did not download to its end", 'touch "$folder.partial"'],
    ["without its program", ":"],
  ])("a plugin %s does not count as downloaded", async (_, shell) => {
    const broken = `folder=$HOME/.pulumi/plugins/resource-$4-v$5; mkdir -p "$folder"; ${shell}`;
    checkout.on("pulumi plugin", `${broken}; [ ! -e "$folder.partial" ] || touch "$folder/pulumi-resource-$4"; exit 0`);
    expect((await prepare()).toolchain.origin.plugins).toBe("built");
  });

  test("a download that stalls is cancelled", async () => {
    checkout.on("pulumi plugin", "exec sleep 600");
    writeFileSync(
      join(checkout.folder, "scripts", "tools", "download.ts"),
      `import { downloadPlugins } from "../toolchain/official.ts";
       console.log(await downloadPlugins("pulumi", process.env, { home: ${JSON.stringify(home())}, stallMs: 200 }));`,
    );
    expect(await checkout.run("download")).toMatchObject({ code: 0, stdout: "false\n" });
  });
});

describe("without a CLI on PATH", () => {
  test("everything is built; the CLI and what the engine expects next to it are in one folder", async () => {
    const { toolchain, built } = await prepare();
    expect(toolchain.origin).toEqual({ cli: "built", plugins: "built" });
    expect(built).toEqual(["pulumi", "language-host", "plugins", "kubernetes", "command"]);
    const [folder = ""] = toolchain.environment.PATH?.split(delimiter) ?? [];
    expect(toolchain.pulumi).toBe(join(folder, "pulumi"));
    expect(toolchain.environment.PATH).toBe([folder, checkout.env.PATH].join(delimiter));
    for (const [tool, file] of [
      ["pulumi", "pulumi"],
      ["pulumi", "wrapper"],
      ["language-host", "pulumi-language-nodejs"],
    ] as const) {
      // Hard links, because the engine searches the real folder of its own file.
      const [entry = ""] = checkout.entries(tool);
      expect(statSync(join(folder, file)).ino).toBe(statSync(join(entry, file)).ino);
    }

    const warm = await prepare();
    expect(warm).toMatchObject({ built: [], asked: [], stderr: "" });
  });

  test.each([
    ["fits", "echo v3.220.0; exit", { version: "3.220.0", fits: true }],
    ["is too old", "echo v3.219.9; exit", { version: "3.219.9", fits: false }],
    ["is of the next major version", "echo v4.0.0; exit", { version: "4.0.0", fits: false }],
    ["was made between releases", "echo v3.260.0-dev.0; exit", { version: "3.260.0-dev.0", fits: false }],
    ["is broken", "echo v3.259.0; exit 139", undefined],
    ["says something else", "echo hello; exit", undefined],
  ])("its version is read: %s", async (_, shell, expected) => {
    checkout.install("pulumi");
    checkout.on("pulumi version", shell);
    writeFileSync(
      join(checkout.folder, "scripts", "tools", "ask.ts"),
      `import { pulumiOnPath } from "../toolchain/official.ts";
       console.log(JSON.stringify({ found: await pulumiOnPath() }));`,
    );
    const ended = await checkout.run("ask");
    expect(JSON.parse(ended.stdout).found).toEqual(expected);
  });

  test("that fits, one is built", async () => {
    checkout.install("pulumi");
    checkout.on("pulumi version", "echo v3.100.0; exit");
    const { toolchain, built, asked } = await prepare();
    expect(toolchain.origin.cli).toBe("built");
    expect(built).toContain("pulumi");
    expect(asked).toEqual(["pulumi version"]);
  });

  test("a CLI that was damaged is replaced in that folder as well", async () => {
    const { toolchain } = await prepare();
    truncateSync(toolchain.pulumi, 3);
    const { built, stderr } = await prepare();
    expect(stderr).toContain("sluice: pulumi in the cache is damaged (pulumi is not what was built)");
    expect(built).toEqual(["pulumi"]);
    expect(readFileSync(toolchain.pulumi, "utf8")).toBe("#!/bin/sh\necho pulumi runs\n");
  });

  test("rebuilt plugins are those that the engine finds", async () => {
    await prepare();
    const link = () => readlinkSync(program(ownHome(), ["kubernetes", plugins.kubernetes]));
    const before = link();
    const goMod = join(checkout.folder, "toolchain", "kubernetes", "go.mod");
    const text = readFileSync(goMod, "utf8");
    writeFileSync(goMod, `${text}// another version\n`);
    expect((await prepare()).built).toEqual(["kubernetes"]);
    expect(link()).not.toBe(before);
    expect(existsSync(link())).toBe(true);
    writeFileSync(goMod, text);
  });

  test("runs that start at once are all prepared", async () => {
    await prepare();
    for (const plugin of Object.entries(plugins)) {
      // Links of an earlier version, which all of them will replace.
      rmSync(program(ownHome(), plugin));
      symlinkSync("/bin/sh", program(ownHome(), plugin));
    }
    const runs = await Promise.all(Array.from({ length: 4 }, () => checkout.run("prepare")));
    for (const ended of runs) expect(ended).toMatchObject({ code: 0, stderr: "" });
    const [entry = ""] = checkout.entries("command");
    expect(readlinkSync(program(ownHome(), ["command", plugins.command]))).toBe(join(entry, "pulumi-resource-command"));
  });
});
