import { isMapping } from "../model/untyped.ts";

/** Values of a Helm chart. */
export type Values = Readonly<Record<string, unknown>>;

/** Merges values as Helm does: maps key by key; everything else, including lists, is replaced by the later one. */
export function mergeValues(values: Values, over: Values): Values {
  const merged = Object.entries(over).map(([key, value]): [string, unknown] => {
    const below = values[key];
    return [key, isMapping(below) && isMapping(value) ? mergeValues(below, value) : value];
  });
  return { ...values, ...Object.fromEntries(merged) };
}
