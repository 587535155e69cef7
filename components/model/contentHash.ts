import { createHash } from "node:crypto";

/** SHA-256 of a text, in hexadecimal. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A hash in place of a value that is too long or must not be shown: the SHA-256 of its JSON. */
export function contentHash(value: unknown): string {
  return sha256(JSON.stringify(value) ?? "");
}
