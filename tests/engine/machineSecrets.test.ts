// Machine secrets in and out of an environment whose machines are unreachable: every `up` ends at the first gate, after what needs no machine was created.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { armor, Decrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { parse } from "yaml";
import { root } from "../../scripts/base/paths.ts";
import { type Ended, run } from "../../scripts/base/run.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { programPath } from "../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";
import { type State, settings, settingsPath, Workbench } from "../support/cli.ts";
import { leaksBelow, Secrets } from "../support/leaks.ts";
import { type SeenProcess, watchProcesses } from "../support/processes.ts";
import { unreachableMachines } from "../support/unreachableMachines.ts";
import { withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

const talosctl = toolNamed("talosctl");
const secretsType = "talos:machine/secrets:Secrets";

const inFolder = (name: string) => join(bench.folder, name);

async function generate(file: string): Promise<string> {
  await run(programPath(talosctl), ["gen", "secrets", "--talos-version", "v1.12", "--output-file", file]);
  return readFileSync(file, "utf8");
}

const offline = (script: string, ...args: readonly string[]) =>
  bench.npmWith({ within: withoutNetwork() }, script, ...args);

/** What a preview does with the machine secrets, where it does anything, and the kinds of step that it has at all. */
async function preview(name: string) {
  const { code, stdout, stderr } = await offline("preview", name, "--json");
  if (code !== 0) throw new Error(stderr || stdout);
  const { steps, changeSummary } = JSON.parse(stdout);
  const step = steps.find(({ urn }: { urn: string }) => urn.includes(`$${secretsType}::`));
  return { secrets: step?.op as string | undefined, kinds: Object.keys(changeSummary).sort() };
}

/** Nothing that exists is changed: the machines were never reached, so that the stages behind them are still to be created. */
const unchanged = { secrets: undefined, kinds: ["create", "same"] };

describe("S7.1 machine secrets of an environment", () => {
  let name: string;
  let identity: string;
  let original: string;
  let settingsBefore: string;
  const secrets = new Secrets();
  const runs: Record<"imported" | "exported" | "up", Ended> = Object.create(null);
  let first: Awaited<ReturnType<typeof preview>>;
  let processes: readonly SeenProcess[];
  let state: State;

  beforeAll(async () => {
    await ensureTools([talosctl]);
    identity = await generateIdentity();
    writeFileSync(inFolder("key.txt"), `# a comment\n${identity}\n`);
    original = await generate(inFolder("original.yaml"));
    const recipient = await identityToRecipient(identity);
    name = bench.addEnvironment("home", { ...unreachableMachines, ageRecipients: [recipient] });
    settingsBefore = readFileSync(settingsPath(name), "utf8");
    const watch = watchProcesses(bench.work);
    runs.imported = await bench.npm("secrets", "import", name, "--file", inFolder("original.yaml"));
    first = await preview(name);
    runs.up = await offline("up", name, "--yes", "--skip-preview");
    runs.exported = await bench.npm("secrets", "export", name);
    processes = watch.stop();
    state = await bench.exported(name);
    secrets.addTree("secrets", parse(original));
    secrets.add("the identity", identity);
  });

  const exportFile = () => join(bench.work, `${name}.secrets.yaml.age`);
  const decrypted = async (file: string) => {
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    return await decrypter.decrypt(armor.decode(readFileSync(file, "utf8")), "text");
  };

  test("are imported from what talosctl generated, encrypted in the environment's file, with nothing else in it changed", () => {
    expect(runs.imported).toMatchObject({ code: 0, stdout: "" });
    expect(runs.imported.stderr).toContain(`of a secrets.yaml are in Pulumi.${name}.yaml, encrypted`);
    const { "sluice:machineSecrets": encrypted, ...rest } = settings(name).config;
    expect(encrypted).toEqual({ secure: expect.stringMatching(/^v1:/) });
    expect(Object.keys(rest)).toEqual(Object.keys(parse(settingsBefore).config));
  });

  test("are shown as imported by the first preview, and the first up takes them into the state", () => {
    expect(first.secrets).toBe("import");
    expect(runs.up.stdout).toMatch(/Preflight +did not open/);
    expect(state.outputs(secretsType)).toMatchObject({
      machineSecrets: { cluster: parse(original).cluster, trustdinfo: parse(original).trustdinfo },
      clientConfiguration: { clientKey: expect.any(String) },
    });
  });

  test("leave no file in the checkout", () => {
    expect(existsSync(join(root, "machine_secrets"))).toBe(false);
  });

  test("are exported for the environment's age recipients, exactly as they were imported, in a file that only its owner can read", async () => {
    expect(runs.exported).toMatchObject({ code: 0, stdout: `${exportFile()}\n` });
    expect(statSync(exportFile()).mode & 0o777).toBe(0o600);
    expect(await decrypted(exportFile())).toBe(original);
  });

  test("are exported in plain text only on request, for talosctl to read", async () => {
    const file = inFolder("plain.yaml");
    expect(await bench.npm("secrets", "export", name, "--plain", "--file", file)).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const args = ["gen", "config", "home", "https://k8s.example.org:6443", "--with-secrets", file, "--output", "-"];
    const made = await run(programPath(talosctl), [...args, "--output-types", "controlplane"]);
    expect({ code: made.code, hasToken: made.stdout.includes(parse(original).trustdinfo.token) }).toEqual({
      code: 0,
      hasToken: true,
    });
    writeFileSync(file, "");
  });

  test("change nothing when the key that declared them is removed", async () => {
    bench.editEnvironment(name, { machineSecrets: undefined });
    expect(await preview(name)).toEqual(unchanged);
  });

  test("are refused, by the command and by the program, where the state has others: the message says what would break", async () => {
    await generate(inFolder("other.yaml"));
    const before = readFileSync(settingsPath(name), "utf8");
    const refused = await bench.npm("secrets", "import", name, "--file", inFolder("other.yaml"));
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/SLU-T221 [^\n]*: nothing was imported into/);
    expect(refused.stderr).toContain("Secrets in etcd, and in each etcd snapshot, could not be decrypted");
    expect(readFileSync(settingsPath(name), "utf8")).toBe(before);

    const input = readFileSync(inFolder("other.yaml"), "utf8");
    const set = ["config", "set", "--secret", "machineSecrets", "--stack", name] as const;
    expect(await bench.npmWith({ input }, "pulumi", ...set)).toMatchObject({ code: 0 });
    const { code, stdout } = await offline("preview", name);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toMatch(/SLU-T221[^\n]*\n +expected: +the machine secrets that the state has\n/);
    expect(stdout).not.toContain("    at ");
    writeFileSync(inFolder("other.yaml"), "");
  });

  test("can be declared after they were generated and exported: nothing changes", async () => {
    const generated = bench.addEnvironment("home", {
      ...unreachableMachines,
      ageRecipients: settings(name).config["sluice:ageRecipients"],
    });
    await offline("up", generated, "--yes", "--skip-preview");
    await bench.npm("secrets", "export", generated, "--file", inFolder("own.age"));
    const back = ["import", generated, "--file", inFolder("own.age"), "--identity", inFolder("key.txt")] as const;
    const imported = await bench.npm("secrets", ...back);
    expect(imported).toMatchObject({ code: 0 });
    expect(imported.stderr).toContain("nothing will change");
    expect(await preview(generated)).toEqual(unchanged);
    secrets.addTree("generated", (await bench.exported(generated)).outputs(secretsType).machineSecrets);
  });

  test("are in no output, no file in plain text, and no command line", () => {
    expect(secrets.names.length).toBeGreaterThan(50);
    expect(secrets.foundIn(bench.said.join("\n"))).toEqual([]);
    writeFileSync(inFolder("original.yaml"), "");
    writeFileSync(inFolder("key.txt"), "");
    expect(leaksBelow(bench.folder, secrets)).toEqual({});
    expect(secrets.foundIn(readFileSync(settingsPath(name), "utf8"))).toEqual([]);
    const commands = processes.map(({ command }) => command).join("\n");
    expect(commands).toContain("scripts/cli/secrets.ts");
    expect(secrets.foundIn(commands)).toEqual([]);
    const variables = processes.flatMap(({ environment }) => environment);
    const telling = variables.filter((variable) => secrets.foundIn(variable).length > 0);
    expect(new Set(telling.map((variable) => variable.split("=")[0]))).toEqual(new Set(["PULUMI_CONFIG"]));
  });
});
