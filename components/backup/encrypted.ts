import { ageFile, type Chunks, isX25519 } from "./ageFile.ts";

/** Encrypted for all of these age public keys. */
export async function* encrypted(plain: Chunks, recipients: readonly string[]): AsyncGenerator<Uint8Array> {
  if (recipients.every(isX25519)) return yield* ageFile(plain, recipients);
  // Loaded only for these: in the cluster there is no library.
  const { encryptedByLibrary } = await import("./ageLibrary.ts");
  yield* encryptedByLibrary(plain, recipients);
}
