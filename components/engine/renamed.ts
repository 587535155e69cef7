/** Properties in a state, by their names. */
export type Properties = Readonly<Record<string, unknown>>;

/** The properties, with former names replaced by the current ones: `{ former: "now" }`. */
export function renamed(properties: unknown, names: Readonly<Record<string, string>>): Properties {
  return Object.fromEntries(Object.entries(properties as Properties).map(([key, value]) => [names[key] ?? key, value]));
}

/** The same for each item of a list, or each value of a map. */
export function allRenamed(values: unknown, names: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(values)) return values.map((one) => renamed(one, names));
  const entries = Object.entries((values ?? {}) as Properties);
  return Object.fromEntries(entries.map(([key, one]) => [key, renamed(one, names)]));
}
