// A user's own environment, copied from an included one: with secrets, protected, changed as clusters are. Its machines exist already,
// and are unreachable: every update ends at the first gate, after everything that needs no machine was created.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse, parseAllDocuments, stringify } from "yaml";
import type { Ended } from "../../scripts/base/run.ts";
import { plainValue } from "../../scripts/stack/exported.ts";
import { type State, settings, settingsPath, Workbench } from "../support/cli.ts";
import { blockCommands } from "../support/docs.ts";
import { leaksBelow, Secrets } from "../support/leaks.ts";
import { type SeenProcess, watchProcesses } from "../support/processes.ts";
import { withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

const marker = `mk${randomBytes(16).toString("hex")}`;
const secretPatches = [
  {
    name: "registry",
    patch: {
      machine: {
        registries: { config: { "registry.example.org": { auth: { username: "talos", password: marker } } } },
      },
    },
  },
];

const nodes = (settings("home").config["sluice:nodes"] as Record<string, unknown>[]).map(
  ({ vmId: _, ...node }) => node,
);
/** The included environment on machines that someone else has set up. */
const machinesThere = {
  ...{ platform: "existing", proxmox: undefined, image: undefined, nodes, endpoint: "k8s.example.org" },
  network: { nodeCidr: "10.0.0.0/16" },
  timeouts: { preflight: 1 },
  stableSeconds: 0,
};

describe("a user's own environment", () => {
  let name: string;
  const secrets = new Secrets();
  const runs: Record<"first" | "set" | "up", Ended> = Object.create(null);
  let processes: readonly SeenProcess[];
  let written: ReturnType<typeof settings>;
  let configured: string;
  let state: State;

  const machineConfigs = (of: State): Readonly<Record<string, string>> =>
    Object.fromEntries(
      of.resources
        .filter(({ type }) => type === "sluice:talos:GeneratedMachineConfig")
        .map(({ urn, outputs }) => [urn.split("::home-")[1], plainValue(outputs?.machineConfiguration) as string]),
    );

  const up = (...args: readonly string[]) => bench.npmWith({ within: withoutNetwork() }, "up", name, "--yes", ...args);

  const identity = (of: State) => of.outputs("talos:machine/secrets:Secrets");

  beforeAll(async () => {
    name = bench.addEnvironment("home", machinesThere);
    written = settings(name);
    runs.first = await bench.npm("preview", name);
    const watch = watchProcesses(bench.work);
    const input = stringify(secretPatches);
    runs.set = await bench.npmWith({ input }, "pulumi", "config", "set", "--secret", "secretPatches", "--stack", name);
    configured = readFileSync(settingsPath(name), "utf8");
    runs.up = await up("--diff");
    processes = watch.stop();
    state = await bench.exported(name);

    secrets.addMarker("the marker", marker);
    secrets.add("the passphrase", readFileSync(join(bench.work, "passphrase"), "utf8").trim());
    const { machineSecrets, clientConfiguration } = identity(state);
    secrets.addTree("machineSecrets", machineSecrets);
    secrets.addTree("clientConfiguration", clientConfiguration);
  });

  test("U1 can be previewed as soon as its file exists", () => {
    expect(runs.first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ +\+ \d+ to create$/m) });
  });

  test("U1 stores a secret encrypted in its own file, with nothing else in it changed", () => {
    expect(runs.set).toMatchObject({ code: 0, stdout: "" });
    const { config, encryptionsalt } = parse(configured);
    expect(encryptionsalt).toMatch(/^v1:/);
    const { "sluice:secretPatches": encrypted, ...rest } = config;
    expect(encrypted).toEqual({ secure: expect.stringMatching(/^v1:/) });
    // The CLI writes numbers and booleans as strings.
    const asWritten = (values: Readonly<Record<string, unknown>>) =>
      Object.entries(values).map(([key, value]) => [key, value instanceof Object ? value : String(value)]);
    expect(asWritten(rest)).toEqual(asWritten(written.config));
  });

  test("U1 is deployed from that file, and the secret reaches every node's config", () => {
    expect(runs.up.code).toBeGreaterThan(0);
    expect(runs.up.stdout).toMatch(/Preflight +did not open/);
    expect(runs.up.stdout).toMatch(/^ +\+ \d+ created$/m);
    expect(readFileSync(settingsPath(name), "utf8")).toBe(configured);
    const passwords = Object.values(machineConfigs(state)).map((text) => {
      const [config] = parseAllDocuments(text).map((document) => document.toJS());
      return config.machine.registries.config["registry.example.org"].auth.password;
    });
    expect(passwords).toEqual(Array(5).fill(marker));
  });

  test("U1 cannot be destroyed while it is protected", async () => {
    const before = readFileSync(bench.stateFile(name), "utf8");
    const destroyed = await bench.npm("destroy", name, "--yes");
    expect(destroyed.code).toBeGreaterThan(0);
    expect(destroyed.stdout).toMatch(
      /talos:machine:Secrets \(home\):\n\s+error: .* cannot be deleted\s+because it is protected/,
    );
    expect(readFileSync(bench.stateFile(name), "utf8")).toBe(before);
  });

  test("S4.7 keeps its machine secrets when it moves to another Talos release", async () => {
    bench.editEnvironment(name, { talosVersion: "1.13.8" });
    const preview = await bench.npm("preview", name, "--json");
    // What is not deployed yet is created; nothing that exists is changed.
    expect(JSON.parse(preview.stdout).changeSummary).toEqual({
      create: expect.any(Number),
      same: state.list().length,
    });
    await up("--skip-preview");
    const newer = await bench.exported(name);
    expect(machineConfigs(newer)["w-1"]).toContain(":v1.13.8\n");
    expect(identity(newer)).toEqual(identity(state));
  });

  test("S4.2 S4.7 moves back to the older release with another worker in the middle of the list, and everything else is unchanged [C12]", async () => {
    const nodes = settings(name).config["sluice:nodes"] as unknown[];
    const worker = { name: "w-0", role: "worker", address: "10.0.0.30" };
    bench.editEnvironment(name, { talosVersion: "1.12.6", nodes: nodes.toSpliced(1, 0, worker) });
    expect((await up("--skip-preview")).stdout).toContain(
      `    + 1 created\n    ~ 2 updated\n    3 changes. ${state.list().length - 2} unchanged\n`,
    );

    const grown = await bench.exported(name);
    expect(grown.list()).toEqual([...state.list(), "sluice:talos:GeneratedMachineConfig home-w-0"].sort());
    const { "w-0": added, ...others } = machineConfigs(grown);
    expect(added).toContain("hostname: w-0\n");
    expect(others).toEqual(machineConfigs(state));
    expect(identity(grown)).toEqual(identity(state));
  });

  describe("with secrets", () => {
    test("U1 has each of them searched for: keys, tokens, the passphrase, the marker", () => {
      const keys = ["etcd", "k8s", "k8sAggregator", "k8sServiceaccount", "os"].map(
        (owner) => `machineSecrets.certs.${owner}.key`,
      );
      expect(secrets.names).toEqual(
        expect.arrayContaining([
          "the marker",
          "the beginning of the marker",
          "the passphrase",
          "machineSecrets.cluster.secret",
          "machineSecrets.secrets.bootstrapToken",
          "machineSecrets.secrets.secretboxEncryptionSecret",
          "machineSecrets.trustdinfo.token",
          "clientConfiguration.clientKey",
          ...keys,
          ...keys.map((key) => `line 1 of ${key}`),
        ]),
      );
      expect(secrets.foundIn(JSON.stringify(machineConfigs(state))).length).toBeGreaterThan(10);
    });

    test("U1 prints none of them", () => {
      expect(bench.said.length).toBeGreaterThan(10);
      expect(secrets.foundIn(bench.said.join("\n"))).toEqual([]);
    });

    test("U1 stores none of them in plain text: state, history, backups, settings, logs, temporary files", () => {
      expect(leaksBelow(bench.folder, secrets)).toEqual({
        [join(bench.work, "passphrase")]: expect.arrayContaining(["the passphrase"]),
      });
      expect(secrets.foundIn(readFileSync(settingsPath(name), "utf8"))).toEqual([]);
    });

    test("U1 has none of them in a command line, which every user of the machine can read", () => {
      const commands = processes.map(({ command }) => command).join("\n");
      for (const program of [
        "scripts/cli/pulumi.ts",
        "pulumi config set",
        "pulumi up",
        "pulumi-language-nodejs",
        "main.mjs",
        "pulumi-resource-talos",
      ]) {
        expect(commands).toContain(program);
      }
      expect(secrets.foundIn(commands)).toEqual([]);
    });

    // The language host passes the config to a program that way, decrypted; only the same user and root can read it.
    test("U1 has none of them in a process's environment, except the config that the engine gives the program", () => {
      const variables = processes.flatMap(({ environment }) => environment);
      const telling = variables.filter((variable) => secrets.foundIn(variable).length > 0);
      expect(new Set(telling.map((variable) => variable.split("=")[0]))).toEqual(new Set(["PULUMI_CONFIG"]));
      expect(secrets.foundIn(telling.join("\n")).filter((found) => !found.includes("the marker"))).toEqual([]);
    });
  });
});

describe("an environment's file", () => {
  test("U1 can be set key by key before its stack exists, and outlives it", async () => {
    const name = bench.addEnvironment("home");
    const set = await bench.npm("pulumi", "config", "set", "clusterName", "mine", "--stack", name);
    expect(set).toMatchObject({ code: 0, stdout: "" });
    const removed = await bench.npm("pulumi", "stack", "rm", name, "--yes");
    expect(removed).toMatchObject({ code: 0, stdout: `Stack '${name}' has been removed!\n` });
    expect(settings(name).config).toMatchObject({ "sluice:clusterName": "mine", "sluice:platform": "proxmox" });
    expect(settings(name)).not.toHaveProperty("encryptionsalt");
  });

  test.each([
    {
      page: "docs/platform.md",
      files: { "age.txt": `AGE-SECRET-KEY-1${"Q".repeat(58)}` },
      changes: { flux: { url: "https://git.example.org/home.git" } },
    },
    {
      page: "docs/network.md",
      files: { "key.txt": "tskey-auth-mine" },
      changes: {
        image: { extensions: ["siderolabs/qemu-guest-agent", "siderolabs/tailscale"] },
        tailscale: { enabled: true },
      },
    },
  ])("U1 accepts the secrets of $page by the commands on that page", async ({ page, files, changes }) => {
    const name = bench.addEnvironment("home", changes);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(bench.folder, file), text);
    const lines = blockCommands(page).filter((line) => /^openssl|config set --secret/.test(line));
    for (const line of lines) {
      const there = line.replace(/(?<= (?:-keyout|-out|<) )\S+/g, (file) => join(bench.folder, file));
      expect(await bench.typed(there.replace("--stack mine", `--stack ${name}`))).toMatchObject({ code: 0 });
    }
    const keys = lines.flatMap((line) => /--secret (\w+)/.exec(line)?.[1] ?? []);
    expect(keys).not.toEqual([]);
    const { config } = settings(name);
    for (const key of keys) expect(config[`sluice:${key}`]).toEqual({ secure: expect.stringMatching(/^v1:/) });
    const { code, stdout } = await bench.npm("preview", name);
    expect({ code, said: code === 0 ? "" : stdout }).toEqual({ code: 0, said: "" });
  });
});
