// Encrypts and decrypts with age. docs/decisions/age-library.md
import { armor, Decrypter, Encrypter } from "age-encryption";
import { Failure } from "../base/fail.ts";
import { needIdentities } from "./identities.ts";

const begin = "-----BEGIN AGE ENCRYPTED FILE-----";

/** Encrypted for all of these public keys, as armored text. */
export async function encryptFor(recipients: readonly string[], plain: string): Promise<string> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new Failure(`${recipient} is not an age public key: it is mistyped, or its end is missing.`);
    }
  }
  return armor.encode(await encrypter.encrypt(plain));
}

export function isEncrypted(file: Buffer): boolean {
  return [begin, "age-encryption.org/"].some((start) =>
    file.subarray(0, 100).toString("latin1").trimStart().startsWith(start),
  );
}

/** The plain text. `identities` is the text of a file as age-keygen writes it. No message quotes it. */
export async function decryptWith(identities: string, file: Buffer): Promise<string> {
  const decrypter = new Decrypter();
  for (const key of needIdentities(identities)) decrypter.addIdentity(key);
  const text = file.toString("latin1");
  try {
    const binary = text.trimStart().startsWith(begin) ? armor.decode(text) : file;
    return await decrypter.decrypt(binary, "text");
  } catch (error) {
    const isForOthers = /no identity matched/.test((error as Error).message);
    throw new Failure(
      isForOthers
        ? "the file is encrypted for other age public keys than that of the identity."
        : "the file cannot be decrypted: it is damaged, or its end is missing.",
    );
  }
}
