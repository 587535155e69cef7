import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { bundleFaults } from "../../../../components/talos/secrets/bundleFaults.ts";
import { faultText, type SecretsBundle } from "../../../../components/talos/secrets/secretsBundle.ts";
import { secretsBundle } from "../../../support/secretsFixture.ts";
import { certificates } from "../../kubernetes/certificates.ts";

const now = Date.parse("2030-01-01");
const { certs, secrets, cluster } = secretsBundle;

const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");
const pem = { type: "pkcs8", format: "pem" } as const;
const smallKey = base64(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export(pem));
const curveKey = base64(generateKeyPairSync("ed25519").privateKey.export(pem));
const lockedKey = base64(
  generateKeyPairSync("ed25519").privateKey.export({ ...pem, cipher: "aes-256-cbc", passphrase: "a" }),
);

const faultsOf = (changes: Partial<SecretsBundle>, at = now) =>
  bundleFaults({ ...secretsBundle, ...changes }, at).map(faultText);
const withCerts = (changes: Partial<SecretsBundle["certs"]>) => faultsOf({ certs: { ...certs, ...changes } });

describe("machine secrets that fit together", () => {
  test("S7.1 have no fault", () => {
    expect(faultsOf({})).toEqual([]);
  });
});

describe("machine secrets that do not fit together", () => {
  test.each([
    ["certs.os.key is not the key of certs.os.crt", { os: { ...certs.os, key: curveKey } }],
    ["certs.k8s.key is not the key of certs.k8s.crt", { k8s: { ...certs.k8s, key: certs.etcd.key } }],
    ["certs.etcd.crt is no certificate: it must be PEM in base64", { etcd: { ...certs.etcd, crt: base64("hidden") } }],
    ["certs.etcd.crt is no certificate: it must be PEM in base64", { etcd: { ...certs.etcd, crt: "no base64" } }],
    [
      "certs.k8saggregator.key is no private key without a passphrase: it must be PEM in base64",
      { k8saggregator: { ...certs.k8saggregator, key: lockedKey } },
    ],
    [
      "certs.os.crt is not the certificate of a CA",
      { os: { crt: base64(certificates.server.cert), key: base64(certificates.server.key) } },
    ],
    [
      "certs.k8sserviceaccount.key is an RSA key of 1024 bits: it must have 2048 or more",
      { k8sserviceaccount: { key: smallKey } },
    ],
    [
      "certs.k8sserviceaccount.key is a key of type ed25519: it must be ec or rsa",
      { k8sserviceaccount: { key: curveKey } },
    ],
  ] satisfies [string, Partial<SecretsBundle["certs"]>][])("S7.1 are refused: %s", (fault, changes) => {
    expect(withCerts(changes)).toEqual([fault]);
  });

  test("S7.1 are refused where a CA is not valid yet, or no longer", () => {
    expect(faultsOf({}, Date.parse("2020-01-01"))).toContain("certs.os.crt is valid only from 2026-11-20 on");
    expect(faultsOf({}, Date.parse("2200-01-01"))).toContain("certs.etcd.crt expired on 2126-10-27");
  });

  test.each([
    [{ secretboxencryptionsecret: base64("short") }, "has 5 bytes: it must be 32 bytes in base64"],
    [{ secretboxencryptionsecret: "hidden!" }, "is no base64: it must be 32 bytes in base64"],
    [{ aescbcencryptionsecret: base64("short") }, "has 5 bytes: it must be 16, 24 or 32 bytes in base64"],
    [{ bootstraptoken: "Token.x" }, "must be 6 and 16 lower-case letters or digits, with a dot between them"],
  ])("S7.1 are refused with a value of the wrong form: %j", (changes, message) => {
    const [path = ""] = Object.keys(changes);
    expect(faultsOf({ secrets: { ...secrets, ...changes } })).toEqual([`secrets.${path} ${message}`]);
  });

  test("S7.1 are refused with a cluster secret that discovery could not encrypt with", () => {
    expect(faultsOf({ cluster: { ...cluster, secret: base64("x") } })).toEqual([
      "cluster.secret has 1 bytes: it must be 32 bytes in base64",
    ]);
  });
});
