import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { privateKeyFault } from "../../components/model/privateKey.ts";
import type { Fault } from "../base/fault.ts";
import { rule } from "./rule.ts";

/** S4.7: what is sealed for a certificate of another key can never be decrypted. */
export const sealingKey = rule(
  ["sealedSecrets", "sealedSecretsCertificate", "sealedSecretsKey"],
  function* ({ sealedSecrets, sealedSecretsCertificate: certificate, sealedSecretsKey: key }) {
    if (certificate === undefined && key === undefined) return;
    if (!sealedSecrets.enabled) {
      const path = certificate === undefined ? "sealedSecretsKey" : "sealedSecretsCertificate";
      yield { path, message: "is set, but sealedSecrets.enabled is false: it would not be used" };
    }
    if (certificate === undefined) yield missing("sealedSecretsCertificate", "sealedSecretsKey");
    else if (key === undefined) yield missing("sealedSecretsKey", "sealedSecretsCertificate");
    else yield* pairFaults(certificate, key);
  },
);

function missing(path: string, other: string): Fault {
  return { path, message: `is missing, but ${other} is set: the two go together` };
}

/** Without the parser's own message: it may quote the key. */
function* pairFaults(certificate: string, key: string): Generator<Fault> {
  const readCertificate = read(() => new X509Certificate(certificate));
  const readKey = read(() => createPrivateKey(key));
  if (readCertificate === undefined) {
    yield {
      path: "sealedSecretsCertificate",
      message: "is not a certificate in PEM; the value is secret and not shown",
    };
  }
  if (readKey === undefined) {
    const fault = privateKeyFault(key) ?? "is not a private key in PEM";
    yield { path: "sealedSecretsKey", message: `${fault}; the value is secret and not shown` };
  } else if (readKey.asymmetricKeyType !== "rsa") {
    // sealed-secrets encrypts with RSA-OAEP.
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
