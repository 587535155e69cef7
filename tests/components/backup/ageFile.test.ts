import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { Decrypter, generateHybridIdentity, generateX25519Identity, identityToRecipient } from "age-encryption";
import fc from "fast-check";
import { ageFile, isX25519 } from "../../../components/backup/ageFile.ts";
import { encrypted } from "../../../components/backup/encrypted.ts";

async function* cut(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function opened(file: Uint8Array, identity: string): Promise<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return Buffer.from(await decrypter.decrypt(file));
}

describe("a file that is encrypted with age (S7.3)", () => {
  test("is read by another implementation, whatever its length and however it arrived", async () => {
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const chunk = 65_536;
    const length = fc.oneof(fc.nat(3 * chunk), fc.constantFrom(0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk));
    await fc.assert(
      fc.asyncProperty(length, fc.integer({ min: 1_000, max: 200_000 }), async (size, piece) => {
        const plain = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
        const file = await buffer(ageFile(cut(plain, piece), [recipient]));
        expect((await opened(file, identity)).equals(plain)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test("is read with the identity of each of its public keys, and differs each time", async () => {
    const identities = [await generateX25519Identity(), await generateX25519Identity()];
    const recipients = await Promise.all(identities.map(identityToRecipient));
    const plain = Buffer.from("the snapshot");
    const files = [await buffer(ageFile(cut(plain, 5), recipients)), await buffer(ageFile(cut(plain, 5), recipients))];
    for (const identity of identities) {
      for (const file of files) expect((await opened(file, identity)).toString()).toBe("the snapshot");
    }
    expect(files[0]?.equals(files[1] ?? Buffer.alloc(0))).toBe(false);
  });

  test("is refused for a public key that is mistyped", async () => {
    const recipient = await identityToRecipient(await generateX25519Identity());
    const at = 20;
    const other = recipient[at] === "q" ? "p" : "q";
    const mistyped = recipient.slice(0, at) + other + recipient.slice(at + 1);
    await expect(buffer(ageFile(cut(Buffer.from("x"), 1), [mistyped]))).rejects.toThrow(
      `${mistyped} is no age public key: it is mistyped`,
    );
  });

  test("is encrypted for public keys of newer kinds too, by the library", async () => {
    const identity = await generateHybridIdentity();
    const recipient = await identityToRecipient(identity);
    expect(isX25519(recipient)).toBe(false);
    const file = await buffer(encrypted(cut(Buffer.from("the snapshot"), 5), [recipient]));
    expect((await opened(file, identity)).toString()).toBe("the snapshot");
  });
});
