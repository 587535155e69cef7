// What can be determined about a private key without using it.

/** Why a program that is given only this key cannot sign with it; undefined for a private key without a passphrase. */
export function privateKeyFault(text: string): string | undefined {
  if (isPublicKey(text))
    return "is a public key: set the private one, which has a line -----BEGIN ... PRIVATE KEY-----";
  if (text.startsWith("PuTTY-User-Key-File")) return "is in PuTTY's format: export it as an OpenSSH key";
  const [, kind, body] = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\s([\s\S]*?)-----END \1-----/.exec(text) ?? [];
  if (kind === undefined || body === undefined)
    return "has no line -----BEGIN ... PRIVATE KEY-----, or its end is missing";
  const isProtected =
    kind.startsWith("ENCRYPTED") ||
    /^Proc-Type:.*ENCRYPTED/m.test(body) ||
    (kind.startsWith("OPENSSH") && opensshCipher(body) !== "none");
  return isProtected ? "is protected by a passphrase, which nobody could type: set a key without one" : undefined;
}

export function isPublicKey(text: string): boolean {
  return /^\s*(ssh-(ed25519|rsa|dss)|ecdsa-sha2-\S+|sk-\S+) |-----BEGIN ([A-Z]+ )*PUBLIC KEY-----/.test(text);
}

/** openssh-key-v1: after the magic word comes the cipher's name with its length. PROTOCOL.key of OpenSSH */
function opensshCipher(body: string): string {
  const bytes = Buffer.from(body, "base64");
  const start = "openssh-key-v1\0".length;
  const length = bytes.length < start + 4 ? 0 : bytes.readUInt32BE(start);
  return bytes.subarray(start + 4, start + 4 + length).toString("latin1");
}
