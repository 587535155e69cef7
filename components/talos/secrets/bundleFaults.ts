// Checks that machine secrets fit together, before a cluster depends on them. No message contains a value, and none is a parser's own: that may quote one.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { BundleFault, KeyPair, SecretsBundle } from "./secretsBundle.ts";

/** What is wrong with a complete bundle. `now` is in milliseconds since 1970. */
export function bundleFaults({ cluster, secrets, certs }: SecretsBundle, now: number): readonly BundleFault[] {
  return [
    ...bytesFault("cluster.secret", cluster.secret, [32]),
    ...tokenFault(secrets.bootstraptoken),
    ...bytesFault("secrets.secretboxencryptionsecret", secrets.secretboxencryptionsecret, [32]),
    ...bytesFault("secrets.aescbcencryptionsecret", secrets.aescbcencryptionsecret, [16, 24, 32]),
    ...(["os", "etcd", "k8s", "k8saggregator"] as const).flatMap((owner) => [
      ...pairFaults(`certs.${owner}`, certs[owner], now),
    ]),
    // Kubernetes signs tokens with no other kind.
    ...keyFaults("certs.k8sserviceaccount.key", certs.k8sserviceaccount.key, ["ec", "rsa"]).faults,
  ];
}

function* bytesFault(path: string, value: string | undefined, lengths: readonly number[]): Generator<BundleFault> {
  if (value === undefined) return;
  const must = `must be ${lengths.join(", ").replace(/, (\d+)$/, " or $1")} bytes in base64`;
  const bytes = fromBase64(value);
  if (bytes === undefined) yield { path, message: `is no base64: it ${must}` };
  else if (!lengths.includes(bytes.length)) yield { path, message: `has ${bytes.length} bytes: it ${must}` };
}

/** Kubernetes accepts no other form. */
function* tokenFault(token: string): Generator<BundleFault> {
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)) return;
  yield {
    path: "secrets.bootstraptoken",
    message: "must be 6 and 16 lower-case letters or digits, with a dot between them",
  };
}

function* pairFaults(path: string, pair: KeyPair, now: number): Generator<BundleFault> {
  const { key, faults } = keyFaults(`${path}.key`, pair.key, ["ed25519", "ec", "rsa"]);
  yield* faults;
  const certificate = readPem(pair.crt, (pem) => new X509Certificate(pem));
  if (certificate === undefined) {
    yield { path: `${path}.crt`, message: "is no certificate: it must be PEM in base64" };
    return;
  }
  if (!certificate.ca) yield { path: `${path}.crt`, message: "is not the certificate of a CA" };
  const [from, to] = [certificate.validFrom, certificate.validTo].map((moment) => Date.parse(moment));
  if (from !== undefined && from > now) yield { path: `${path}.crt`, message: `is valid only from ${day(from)} on` };
  if (to !== undefined && to <= now) yield { path: `${path}.crt`, message: `expired on ${day(to)}` };
  if (key !== undefined && !certificate.checkPrivateKey(key)) {
    yield { path: `${path}.key`, message: `is not the key of ${path}.crt` };
  }
}

function keyFaults(path: string, value: string, kinds: readonly string[]) {
  // Talos writes PKCS #8 with a label of its own.
  const key = readPem(value, (pem) => createPrivateKey(pem.replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY")));
  if (key === undefined) {
    const message = "is no private key without a passphrase: it must be PEM in base64";
    return { key, faults: [{ path, message }] };
  }
  return { key, faults: [...kindFault(path, key, kinds)] };
}

function* kindFault(path: string, key: KeyObject, kinds: readonly string[]): Generator<BundleFault> {
  const { asymmetricKeyType: kind = "none", asymmetricKeyDetails: { modulusLength = 0 } = {} } = key;
  if (!kinds.includes(kind)) {
    yield { path, message: `is a key of type ${kind}: it must be ${kinds.join(" or ")}` };
  } else if (kind === "rsa" && modulusLength < 2048) {
    yield { path, message: `is an RSA key of ${modulusLength} bits: it must have 2048 or more` };
  }
}

function readPem<T>(value: string, read: (pem: string) => T): T | undefined {
  const bytes = fromBase64(value);
  try {
    return bytes && read(bytes.toString("latin1"));
  } catch {
    return undefined;
  }
}

function fromBase64(value: string): Buffer | undefined {
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(value) && value.length % 4 === 0;
  return isBase64 ? Buffer.from(value, "base64") : undefined;
}

function day(moment: number): string {
  return new Date(moment).toISOString().slice(0, "2027-11-18".length);
}
