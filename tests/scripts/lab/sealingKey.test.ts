import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { parse, parseDocument } from "yaml";
import { addSealingKey } from "../../../scripts/lab/sealingKey.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-sealing-"));
const file = join(folder, "Pulumi.dev.yaml");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What was encrypted since the start of the test. */
let encrypted: Map<string, string>;
beforeEach(() => {
  encrypted = new Map();
});

/** Encrypts like the CLI: with the settings of the file, into the file. */
async function encrypt(key: string, value: string): Promise<void> {
  encrypted.set(key, value);
  const document = parseDocument(readFileSync(file, "utf8"));
  document.setIn(["config", `sluice:${key}`], { secure: `${document.get("encryptionsalt")}:${key}` });
  writeFileSync(file, document.toString());
}

function derive(salt: string): void {
  writeFileSync(file, `# mine\nconfig:\n  sluice:clusterName: dev\nencryptionsalt: ${salt}\n`);
}

const values = (salt: string) => ({
  "sluice:sealedSecretsCertificate": { secure: `${salt}:sealedSecretsCertificate` },
  "sluice:sealedSecretsKey": { secure: `${salt}:sealedSecretsKey` },
});

describe("the sample's sealing key", () => {
  test("S4.7 is put into the settings of an environment, encrypted: a certificate and its key", async () => {
    derive("one");
    await addSealingKey(file, encrypt);
    expect(parse(readFileSync(file, "utf8")).config).toEqual({ "sluice:clusterName": "dev", ...values("one") });
    const certificate = new X509Certificate(encrypted.get("sealedSecretsCertificate") ?? "");
    expect(certificate.checkPrivateKey(createPrivateKey(encrypted.get("sealedSecretsKey") ?? ""))).toBe(true);
  });

  test("is not encrypted again when the settings are derived again, which takes a second", async () => {
    derive("one");
    await addSealingKey(file, encrypt);
    expect(encrypted.size).toBe(0);
    expect(parse(readFileSync(file, "utf8"))).toEqual({
      config: { "sluice:clusterName": "dev", ...values("one") },
      encryptionsalt: "one",
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is encrypted again for another passphrase, and when the cached values cannot be read", async () => {
    derive("two");
    await addSealingKey(file, encrypt);
    expect(parse(readFileSync(file, "utf8")).config).toMatchObject(values("two"));
    expect(encrypted.size).toBe(2);
    writeFileSync(`${file}.sealing-key`, "{");
    derive("two");
    encrypted.clear();
    await addSealingKey(file, encrypt);
    expect(encrypted.size).toBe(2);
  });
});
