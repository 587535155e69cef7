// Certificates and keys in the provider's format: PEM in base64.

export function decodePem(base64: string): Buffer {
  return Buffer.from(base64, "base64");
}

/** Talos names the algorithm in the PEM header, which OpenSSL does not know; the content is plain PKCS #8. */
export function standardKey(key: string): Buffer {
  return Buffer.from(decodePem(key).toString().replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY"));
}
