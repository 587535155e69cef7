// Machine secrets from the files of talosctl, against the real generator.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import { bundleText, isBundle, readBundle, toPlugin } from "../../components/talos/secrets/secretsBundle.ts";
import { run } from "../../scripts/base/run.ts";
import { startGenerator } from "../../scripts/render/generator.ts";
import { readSource } from "../../scripts/secrets/sources.ts";
import { verify } from "../../scripts/secrets/verify.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { programPath } from "../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../scripts/toolchain/tools.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { rawConfig } from "../support/rawConfig.ts";
import { secretsBundle } from "../support/secretsFixture.ts";

jest.setTimeout(60_000);

const [talosctl, plugins] = [toolNamed("talosctl"), toolNamed("plugins")];
const plugin = programPath(plugins, "pulumi-resource-talos");
const config = parseClusterConfig(rawConfig("home"));
const folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function talos(...args: readonly string[]): Promise<void> {
  const ended = await run(programPath(talosctl), args);
  if (ended.code !== 0) throw new Error(ended.stderr);
}

const documents = (text: string) => parseAllDocuments(text).map((document) => document.toJS());

describe.each(["v1.11", "v1.12", "v1.13"])("machine secrets that talosctl generates for Talos %s", (version) => {
  const file = join(folder, `${version}.yaml`);
  const controlPlane = join(folder, `${version}-controlplane.yaml`);

  beforeAll(async () => {
    await ensureTools([talosctl, plugins]);
    await talos("gen", "secrets", "--talos-version", version, "--output-file", file);
    await generateConfig(file, controlPlane);
  }, 30 * 60_000);

  const generateConfig = (secrets: string, output: string) =>
    talos(
      ...["gen", "config", "home", "https://10.0.0.20:6443", "--with-secrets", secrets, "--talos-version", version],
      ...["--kubernetes-version", "1.32.4", "--with-docs=false", "--with-examples=false"],
      ...["--output-types", "controlplane", "--output", output],
    );

  test("S7.1 are accepted, from secrets.yaml and from the machine config that was made from it: both are the same", async () => {
    const { bundle } = readSource(readFileSync(file, "utf8"));
    expect(readSource(readFileSync(controlPlane, "utf8")).bundle).toEqual(bundle);
    await verify(bundle, config, plugin);
  });

  test("S7.1 are written byte for byte as talosctl writes them", () => {
    const read = readBundle(readFileSync(file, "utf8"));
    if (!isBundle(read)) throw new Error("not complete");
    expect(bundleText(read)).toBe(readFileSync(file, "utf8"));
  });

  test("S7.1 make the original machine config again, document by document, where nothing else has changed", async () => {
    const original = readFileSync(controlPlane, "utf8");
    const generator = await startGenerator(plugin);
    try {
      const made = await generator.generateWith(toPlugin(readSource(original).bundle), {
        clusterName: "home",
        clusterEndpoint: "https://10.0.0.20:6443",
        machineType: "controlplane",
        talosVersion: version,
        kubernetesVersion: "1.32.4",
        docs: false,
        examples: false,
        configPatches: [],
      });
      expect(documents(made)).toEqual(documents(original));
    } finally {
      generator.stop();
    }
  });
});

describe("machine secrets that do not fit together", () => {
  test("S7.1 are refused with every fault, and no secret", async () => {
    const { certs, secrets } = secretsBundle;
    const mixed = {
      ...secretsBundle,
      secrets: { ...secrets, secretboxencryptionsecret: "c2hvcnQ=" },
      certs: { ...certs, os: { ...certs.os, key: certs.k8s.key } },
    };
    await expect(verify(mixed, config, plugin)).rejects.toThrow(
      /^the machine secrets have 2 faults:\n {2}secrets.secretboxencryptionsecret has 5 bytes: it must be 32 bytes in base64\n {2}certs.os.key is not the key of certs.os.crt$/,
    );
  });
});
