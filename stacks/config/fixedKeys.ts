import { allPlatforms } from "../platforms/registry.ts";

/** The message for a key that cannot be set, because only one value works; undefined for any other key. */
export function fixedKeyMessage(path: string): string | undefined {
  const fixed = allPlatforms.map(({ fixedKeys }) => fixedKeys?.[path]).find((one) => one !== undefined);
  return fixed && `is always ${fixed.value} and cannot be set: ${fixed.reason}; remove the key`;
}
