import { isDeepStrictEqual } from "node:util";
import { isMapping } from "../../model/untyped.ts";
import {
  type ConfigDocument,
  type ConfigValue,
  configDocuments,
  isList,
  isNothing,
  meaning,
  withoutImplied,
} from "./configDocuments.ts";
import { redact } from "./redact.ts";

/** One difference. Secrets are masked in `was` and `is`. */
export interface ConfigChange {
  /** The document, as `ConfigDocument.title`. */
  readonly document: string;
  /** Keys and list positions from the document's root; empty for a complete document. */
  readonly path: readonly string[];
  /** Undefined if there was no value. */
  readonly was: string | undefined;
  /** Undefined if there is no value now. */
  readonly is: string | undefined;
}

/** Longer values are cut: users want to see what changed, not the complete value. */
const longest = 120;

/**
 * The differences between two machine configs, independent of formatting and of the order of keys and documents. None if
 * they mean the same. Undefined if one of them cannot be read, and then nothing of it is shown.
 */
export function configChanges(before: string, after: string): readonly ConfigChange[] | undefined {
  const [was, is] = [shownDocuments(before), shownDocuments(after)];
  if (was === undefined || is === undefined) return undefined;
  const titles = new Set([...was.keys(), ...is.keys()]);
  return [...titles].flatMap((title) => changesOf(title, [], was.get(title), is.get(title)));
}

/** Whether both mean the same to a node. */
export function isSameConfig(one: string, other: string): boolean {
  return configChanges(one, other)?.length === 0;
}

/** A value together with what may be shown of it: the same structure, with every secret masked. */
interface Shown {
  readonly value: ConfigValue;
  readonly shown: ConfigValue;
}

function shownDocuments(config: string): ReadonlyMap<string, Shown> | undefined {
  const documents = configDocuments(config);
  const masked = configDocuments(redact(config));
  if (documents === undefined || masked === undefined) return undefined;
  const shown = new Map(masked.map((document: ConfigDocument) => [document.title, withoutImplied(document)]));
  if (documents.some(({ title }) => !shown.has(title))) return undefined;
  return new Map(
    documents.map((document) => [
      document.title,
      { value: withoutImplied(document), shown: shown.get(document.title) ?? null },
    ]),
  );
}

function changesOf(
  document: string,
  path: readonly string[],
  was: Shown | undefined,
  is: Shown | undefined,
): readonly ConfigChange[] {
  if (isDeepStrictEqual(meaningOf(was), meaningOf(is))) return [];
  // A document is more than its keys: an empty one has an effect too.
  const isWhole = path.length === 0 && (was === undefined || is === undefined);
  if (!isWhole && isMapping(was?.value ?? {}) && isMapping(is?.value ?? {})) {
    const keys = new Set([was, is].flatMap((side) => (isMapping(side?.value) ? Object.keys(side.value) : [])));
    return [...keys].flatMap((key) => changesOf(document, [...path, key], member(was, key), member(is, key)));
  }
  if (isList(was?.value) && isList(is?.value)) {
    return listChanges(document, path, items(was), items(is));
  }
  return [{ document, path, was: text(was), is: text(is) }];
}

/** Lists of the same length are compared item by item; for others the removed and added items are listed. */
function listChanges(
  document: string,
  path: readonly string[],
  was: readonly Shown[],
  is: readonly Shown[],
): readonly ConfigChange[] {
  if (was.length === is.length) {
    return was.flatMap((item, place) => changesOf(document, [...path, String(place)], item, is[place]));
  }
  const gone = without(was, is).map((item) => ({ document, path, was: text(item), is: undefined }));
  const come = without(is, was).map((item) => ({ document, path, was: undefined, is: text(item) }));
  return [...gone, ...come];
}

/** The items of a list that the other does not have, each as often as it occurs more. */
function without(list: readonly Shown[], other: readonly Shown[]): readonly Shown[] {
  const left = other.map(meaningOf);
  return list.filter((item) => {
    const found = left.findIndex((candidate) => isDeepStrictEqual(candidate, meaningOf(item)));
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
}

function meaningOf(side: Shown | undefined): ConfigValue | undefined {
  if (side === undefined) return undefined;
  const meant = meaning(side.value);
  return isNothing(meant) ? undefined : meant;
}

function member(side: Shown | undefined, key: string): Shown | undefined {
  if (!isMapping(side?.value) || !Object.hasOwn(side.value, key)) return undefined;
  const shown = isMapping(side.shown) ? side.shown[key] : side.shown;
  return { value: side.value[key] ?? null, shown: shown ?? null };
}

function items(side: Shown | undefined): readonly Shown[] {
  const { value, shown } = side ?? {};
  if (!isList(value)) return [];
  return value.map((item, place) => ({ value: item, shown: (isList(shown) ? shown[place] : shown) ?? null }));
}

function text(side: Shown | undefined): string | undefined {
  if (meaningOf(side) === undefined) return undefined;
  const whole = typeof side?.shown === "string" ? side.shown : JSON.stringify(side?.shown);
  return whole.length > longest ? `${whole.slice(0, longest)}...` : whole;
}
