// Encrypts a stream with age (age-encryption.org/v1) for X25519 public keys, by Node's own cryptography: the cluster itself takes backups with nothing but Node,
// and OpenSSL is several times as fast as a library in JavaScript. What this writes is read by any other age, and by the library in the tests.
// docs/decisions/age-library.md
import {
  createCipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  randomBytes,
} from "node:crypto";

export type Chunks = AsyncIterable<Uint8Array>;

const version = "age-encryption.org/v1";
const chunkLength = 64 * 1024;
const tagLength = 16;

/** Whether this can encrypt for a public key; others are of newer kinds. */
export function isX25519(recipient: string): boolean {
  return /^age1[02-9ac-hj-np-z]{58}$/.test(recipient);
}

/** Throws if a public key is mistyped. `random` returns as many unpredictable bytes. */
export async function* ageFile(
  plain: Chunks,
  recipients: readonly string[],
  random: (length: number) => Buffer = randomBytes,
): AsyncGenerator<Uint8Array> {
  const fileKey = random(16);
  const nonce = random(16);
  const stanzas = recipients.map((recipient) => stanza(rawKey(recipient), fileKey, random(32)));
  yield Buffer.concat([header(stanzas, fileKey), nonce]);
  yield* payload(plain, derived(fileKey, nonce, "payload"));
}

/** The file's key, wrapped for each public key, and a code that authenticates all of it. */
function header(stanzas: readonly string[], fileKey: Buffer): Buffer {
  const authenticated = `${version}\n${stanzas.join("")}---`;
  const code = createHmac("sha256", derived(fileKey, Buffer.alloc(0), "header"))
    .update(authenticated)
    .digest();
  return Buffer.from(`${authenticated} ${unpadded(code)}\n`);
}

/** PKCS #8 of an X25519 key, up to the key itself. */
const keyPrefix = Buffer.from("302e020100300506032b656e04220420", "hex");

function stanza(recipient: Buffer, fileKey: Buffer, ephemeral: Buffer): string {
  const privateKey = createPrivateKey({ key: Buffer.concat([keyPrefix, ephemeral]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey);
  const share = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const jwk = { kty: "OKP", crv: "X25519", x: recipient.toString("base64url") };
  const shared = diffieHellman({ privateKey, publicKey: createPublicKey({ key: jwk, format: "jwk" }) });
  const key = derived(shared, Buffer.concat([share, recipient]), `${version}/X25519`);
  return `-> X25519 ${unpadded(share)}\n${unpadded(sealed(key, Buffer.alloc(12), fileKey))}\n`;
}

/** Chunks of a fixed length, each with its number; the last one is marked, so that a cut is noticed. */
async function* payload(plain: Chunks, key: Buffer): AsyncGenerator<Uint8Array> {
  let waiting = Buffer.alloc(0);
  let number = 0n;
  const next = (chunk: Buffer, isLast: boolean) => {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(number, 3);
    nonce[11] = isLast ? 1 : 0;
    number += 1n;
    return sealed(key, nonce, chunk);
  };
  for await (const arrived of plain) {
    waiting = Buffer.concat([waiting, arrived]);
    let at = 0;
    // One chunk always waits: it may be the last.
    for (; waiting.length - at > chunkLength; at += chunkLength)
      yield next(waiting.subarray(at, at + chunkLength), false);
    waiting = waiting.subarray(at);
  }
  yield next(waiting, true);
}

function sealed(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: tagLength });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function derived(secret: Buffer, salt: Buffer, info: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, 32));
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** The 32 bytes of a public key, whose text is Bech32 (BIP 173). */
function rawKey(recipient: string): Buffer {
  const values = [...recipient.slice("age1".length)].map((letter) => letters.indexOf(letter));
  // "age" as the checksum reads it: the upper bits of each letter, zero, the lower bits.
  const prefix = [3, 3, 3, 0, 1, 7, 5];
  if (!isX25519(recipient) || checksum([...prefix, ...values]) !== 1) {
    throw new Error(`${recipient} is no age public key: it is mistyped`);
  }
  const bits = values
    .slice(0, -6)
    .map((value) => value.toString(2).padStart(5, "0"))
    .join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

function checksum(values: readonly number[]): number {
  return values.reduce((sum, value) => {
    const top = sum >>> 25;
    const shifted = ((sum & 0x1ffffff) << 5) ^ value;
    return generators.reduce((all, generator, bit) => ((top >>> bit) & 1 ? all ^ generator : all), shifted);
  }, 1);
}
