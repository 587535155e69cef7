// The lab's sample repository contains a secret that is sealed for a public sample key. An environment on a lab without its own key gets that key, encrypted,
// in the copy of its settings: the committed file does not change.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, parseDocument } from "yaml";
import { writeWhole } from "../base/files.ts";
import { root } from "../base/paths.ts";

type Values = Readonly<Record<(typeof keys)[number], string>>;

const keys = ["sealedSecretsCertificate", "sealedSecretsKey"] as const;

/** A cache of encrypted values, by key and secrets manager: encrypting takes the CLI a second. */
interface Remembered {
  readonly source: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Adds the key to a copy of an environment's settings; `encrypt` sets a value in it as the CLI does. */
export async function addSealingKey(
  settings: string,
  encrypt: (key: string, value: string) => Promise<void>,
): Promise<void> {
  const memory = `${settings}.sealing-key`;
  const sample = await sampleKey();
  const document = parseDocument(await readFile(settings, "utf8"));
  const secretsManager = ["encryptionsalt", "encryptedkey", "secretsprovider"].map((key) => document.get(key));
  const source = createHash("sha256")
    .update(JSON.stringify([secretsManager, sample]))
    .digest("hex");
  const remembered = await recall(memory);
  if (remembered?.source === source) {
    for (const key of keys) document.setIn(["config", `sluice:${key}`], remembered.values[key]);
    await writeWhole(settings, document.toString(), 0o600);
    return;
  }
  for (const key of keys) await encrypt(key, sample[key]);
  const { config } = parse(await readFile(settings, "utf8"));
  const values = Object.fromEntries(keys.map((key) => [key, config[`sluice:${key}`]]));
  await writeWhole(memory, JSON.stringify({ source, values } satisfies Remembered), 0o600);
}

async function sampleKey(): Promise<Values> {
  const folder = join(root, "lab", "sample");
  const { data } = parse(await readFile(join(folder, "sealing-key.yaml"), "utf8"));
  return {
    sealedSecretsCertificate: await readFile(join(folder, "sealing-certificate.pem"), "utf8"),
    sealedSecretsKey: Buffer.from(data["tls.key"], "base64").toString(),
  };
}

async function recall(file: string): Promise<Remembered | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined; // on the first run, or after an interrupted one
  }
}
