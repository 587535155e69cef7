import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { Fault } from "../fault.ts";
import { rule } from "./rule.ts";

/** S4.7: with a certificate that is not the key's, what is in git can be sealed and never be read. */
export const sealingKey = rule(
  ["sealedSecrets", "sealedSecretsCertificate", "sealedSecretsKey"],
  function* ({ sealedSecrets, sealedSecretsCertificate: certificate, sealedSecretsKey: key }) {
    if (certificate === undefined && key === undefined) return;
    if (!sealedSecrets.enabled) {
      const path = certificate === undefined ? "sealedSecretsKey" : "sealedSecretsCertificate";
      yield { path, message: "is set, but sealedSecrets.enabled is false: nobody would read it" };
    }
    if (certificate === undefined) yield missing("sealedSecretsCertificate", "sealedSecretsKey");
    else if (key === undefined) yield missing("sealedSecretsKey", "sealedSecretsCertificate");
    else yield* pairFaults(certificate, key);
  },
);

function missing(path: string, other: string): Fault {
  return { path, message: `is missing, but ${other} is set: the two go together` };
}

/** Without the words of who reads it: they may quote the key. */
function* pairFaults(certificate: string, key: string): Generator<Fault> {
  const readCertificate = read(() => new X509Certificate(certificate));
  const readKey = read(() => createPrivateKey(key));
  if (readCertificate === undefined) {
    yield { path: "sealedSecretsCertificate", message: "is no certificate in PEM; the value is secret and not shown" };
  }
  if (readKey === undefined) {
    yield { path: "sealedSecretsKey", message: "is no private key in PEM; the value is secret and not shown" };
  } else if (readKey.asymmetricKeyType !== "rsa") {
    // What sealed-secrets seals is encrypted with RSA-OAEP.
    yield { path: "sealedSecretsKey", message: `is a key of type ${readKey.asymmetricKeyType}: it must be RSA` };
  } else if (readCertificate !== undefined && !isPair(readCertificate, readKey)) {
    yield { path: "sealedSecretsKey", message: "is not the key of sealedSecretsCertificate" };
  }
}

function isPair(certificate: X509Certificate, key: KeyObject): boolean {
  return certificate.checkPrivateKey(key);
}

function read<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
