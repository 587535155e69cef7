import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { rawConfig } from "../support/rawConfig.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-sealing-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { certificate, key } = sealingPair();
const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
  type: "pkcs8",
  format: "pem",
});
const curveKey = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });

const parse =
  (sealedSecretsCertificate: unknown, sealedSecretsKey: unknown, enabled = true) =>
  () =>
    parseClusterConfig({
      ...rawConfig("home"),
      sealedSecrets: { enabled },
      sealedSecretsCertificate,
      sealedSecretsKey,
    });

test("S4.7 a sealing certificate with its key is accepted", () => {
  expect(parse(certificate, key)()).toMatchObject({ sealedSecretsCertificate: certificate, sealedSecretsKey: key });
});

test.each([
  ["sealedSecretsKey: is not the key of sealedSecretsCertificate", certificate, otherKey],
  ["sealedSecretsKey: is a key of type ed25519: it must be RSA", certificate, curveKey],
  [
    "sealedSecretsKey: has no line -----BEGIN ... PRIVATE KEY-----, or its end is missing; the value is secret and not shown",
    certificate,
    "hidden",
  ],
  ["sealedSecretsCertificate: is not a certificate in PEM; the value is secret and not shown", "hidden", key],
])("S4.7 a sealing pair is refused with the message '%s'", (fault, givenCertificate, givenKey) => {
  expect(parse(givenCertificate, givenKey)).toThrow(`The configuration has 1 fault:\n  ${fault}`);
});

test("a sealing key without sealed-secrets is refused", () => {
  expect(parse(certificate, key, false)).toThrow(
    "sealedSecretsCertificate: is set, but sealedSecrets.enabled is false: it would not be used",
  );
});

/** Created as in the documentation. */
function sealingPair() {
  const [keyFile, certificateFile] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  const subject = ["-subj", "/CN=sealed-secret/O=sealed-secret"];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-nodes",
      "-newkey",
      "rsa:2048",
      "-days",
      "3650",
      "-keyout",
      keyFile,
      "-out",
      certificateFile,
      ...subject,
    ],
    { stdio: "ignore" },
  );
  return { certificate: readFileSync(certificateFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}
