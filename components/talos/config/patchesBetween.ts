// The patches that turn one machine config into another, as Talos merges them: maps by key, lists by appending, and `$patch: delete` removes what is at its place.
import { isDeepStrictEqual } from "node:util";
import { isMapping } from "../../model/untyped.ts";
import {
  type ConfigValue,
  configDocuments,
  isList,
  isNothing,
  mainDocument,
  meaning,
  withoutImplied,
} from "./configDocuments.ts";
import type { ConfigPatch } from "./machineInput.ts";

/** What no patch may change. */
export interface Untouched {
  /** A place in the main document, such as `cluster.network.cni`, with everything below it. */
  readonly places: readonly string[];
  /** Kinds of other documents. */
  readonly kinds: readonly string[];
}

/** In the order in which they are merged: first what removes, then what adds. Empty if they mean the same; undefined if one of them cannot be read. */
export function patchesBetween(from: string, to: string, untouched: Untouched): readonly ConfigPatch[] | undefined {
  const [was, is] = [byTitle(from), byTitle(to)];
  if (was === undefined || is === undefined) return undefined;
  const others = new Set([...was.keys(), ...is.keys()].filter((title) => !isUntouched(title, untouched)));
  const parts = [
    mainPatch(was.get(mainDocument), is.get(mainDocument), untouched.places),
    ...[...others].map((title) => documentPatch(was.get(title), is.get(title))),
  ];
  const all = [...parts.map(({ gone }) => gone), ...parts.map(({ come }) => come)];
  return all.filter((patch) => patch !== undefined);
}

function isUntouched(title: string, { kinds }: Untouched): boolean {
  return title === mainDocument || kinds.some((kind) => title === kind || title.startsWith(`${kind} `));
}

const removed = { $patch: "delete" } as const;

/** What is removed, and what is added after that. */
interface Part {
  readonly gone?: ConfigPatch;
  readonly come?: ConfigPatch;
}

function mainPatch(was: ConfigValue | undefined, is: ConfigValue | undefined, places: readonly string[]): Part {
  const { gone, come } = mapPatch(mapOf(was), mapOf(is), [], places);
  return { ...(!isNothing(gone) && { gone }), ...(!isNothing(come) && { come }) };
}

type Values = { readonly [key: string]: ConfigValue };

/** The keys of a map, each by itself: a map that is new or gone may contain what must not be touched. */
function mapPatch(was: Values, is: Values, above: readonly string[], places: readonly string[]) {
  const [gone, come]: [Record<string, ConfigValue>, Record<string, ConfigValue>] = [{}, {}];
  for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const path = [...above, key];
    const place = path.join(".");
    const [before, after] = [was[key], is[key]];
    if (places.includes(place) || isDeepStrictEqual(before, after)) continue;
    const isAbove = places.some((other) => other.startsWith(`${place}.`));
    if (isMaps(before, after) || (isAbove && isMaps(before ?? {}, after ?? {}))) {
      const inner = mapPatch(mapOf(before), mapOf(after), path, places);
      if (!isNothing(inner.gone)) gone[key] = inner.gone;
      if (!isNothing(inner.come)) come[key] = inner.come;
      continue;
    }
    const added = isList(before) && isList(after) ? appended(before, after) : undefined;
    // A list can only be appended to, and a map only be added to: what replaces them comes after their removal.
    if (added === undefined && (after === undefined || isList(before) || isMapping(before))) gone[key] = removed;
    if (after !== undefined) come[key] = added ?? after;
  }
  return { gone, come };
}

/** What the list has more at its end; undefined if it is another list. */
function appended(was: readonly ConfigValue[], is: readonly ConfigValue[]): readonly ConfigValue[] | undefined {
  return isDeepStrictEqual(was, is.slice(0, was.length)) ? is.slice(was.length) : undefined;
}

/** A document without `v1alpha1`'s maps has few keys, and is replaced completely. */
function documentPatch(was: ConfigValue | undefined, is: ConfigValue | undefined): Part {
  if (isDeepStrictEqual(was, is)) return {};
  const { apiVersion, kind, name } = mapOf(was);
  const gone = { apiVersion, kind, ...(name !== undefined && { name }), ...removed };
  return { ...(was !== undefined && { gone }), ...(is !== undefined && { come: mapOf(is) }) };
}

function byTitle(config: string): ReadonlyMap<string, ConfigValue> | undefined {
  const documents = configDocuments(config);
  return documents && new Map(documents.map((document) => [document.title, meaning(withoutImplied(document))]));
}

function mapOf(value: ConfigValue | undefined): Values {
  return isMapping(value) ? (value as Values) : {};
}

function isMaps(...values: readonly (ConfigValue | undefined)[]): boolean {
  return values.every((value) => isMapping(value));
}
