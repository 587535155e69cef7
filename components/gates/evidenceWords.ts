// Evidence as text. The state may be of another version, so nothing is assumed about its form.
import { count } from "../model/count.ts";
import { record, text } from "../model/untyped.ts";

/** "3 nodes", "1 node". */
export function many(all: readonly unknown[], what: string): string {
  return count(all.length, what);
}

export function keys(value: unknown): readonly string[] {
  return Object.keys(record(value));
}

/** Without duplicates. */
export function distinct(values: readonly unknown[]): string {
  return [...new Set(values.map(text))].join(", ");
}

/** The tags of images, without duplicates. */
export function imageVersions(images: unknown): string {
  return distinct(Object.values(record(images)).map((image) => text(image).replace(/@.*$/, "").split(":").at(-1)));
}

/** A revision, with its hash shortened: `main@sha1:9b0b4cb8`. */
export function shortRevision(revision: unknown): string {
  return text(revision).replace(/([0-9a-f]{8})[0-9a-f]{32,}$/, "$1");
}
