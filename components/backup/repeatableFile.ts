import { createHash, hkdfSync } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { ageFile } from "./ageFile.ts";

/**
 * Encrypts a text with age so that the same text for the same public keys gives the same file: what a state keeps must not change with each run. The random bytes
 * are derived from the text, so it has to be as hard to guess as a key, as machine secrets are.
 */
export async function repeatableFile(plain: string, recipients: readonly string[]): Promise<Buffer> {
  const seed = createHash("sha256")
    .update(JSON.stringify([recipients, plain]))
    .digest();
  let drawn = 0;
  const random = (length: number) =>
    Buffer.from(hkdfSync("sha256", seed, Buffer.alloc(0), `sluice machine secrets ${drawn++}`, length));
  async function* text() {
    yield Buffer.from(plain);
  }
  return await buffer(ageFile(text(), recipients, random));
}
