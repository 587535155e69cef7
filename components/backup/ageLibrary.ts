// Decrypts streams with age, and encrypts them for public keys of newer kinds. docs/decisions/age-library.md
import { Decrypter, Encrypter } from "age-encryption";
import { SluiceError } from "../errors/sluiceError.ts";
import type { Chunks } from "./ageFile.ts";

/** Encrypted for all of these public keys, of whatever kind. */
export async function* encryptedByLibrary(plain: Chunks, recipients: readonly string[]): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  yield* chunksOf(await encrypter.encrypt(streamOf(plain)));
}

/** Rejects with what is wrong with the file, or with the identities. */
export async function* decrypted(
  file: Chunks,
  identities: readonly string[],
  where: string,
): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    yield* chunksOf(await decrypter.decrypt(streamOf(file)));
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const isForOthers = /no identity matched/.test((error as Error).message);
    const seen = isForOthers
      ? "it is encrypted for other age public keys than that of the identity"
      : "it cannot be decrypted: it is damaged, or its end is missing";
    throw new SluiceError({ code: "SLU-B104", where, seen, cause: error });
  }
}

/** The identities in the text of a file as age-keygen writes it, or why there are none. */
export function identitiesIn(text: string): readonly string[] | "missing" | "mistyped" {
  const keys = text.split(/\s+/).filter((word) => /^AGE-SECRET-KEY-/.test(word));
  const decrypter = new Decrypter();
  try {
    for (const key of keys) decrypter.addIdentity(key);
  } catch {
    return "mistyped";
  }
  return keys.length === 0 ? "missing" : keys;
}

function streamOf(chunks: Chunks): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks) as ReadableStream<Uint8Array>;
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* stream as unknown as Chunks;
}
