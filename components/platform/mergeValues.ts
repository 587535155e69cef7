/** Values of a Helm chart. */
export type Values = Readonly<Record<string, unknown>>;

/** As Helm merges values: maps key by key, and everything else, lists too, by taking the later one whole. */
export function mergeValues(values: Values, over: Values): Values {
  const merged = Object.entries(over).map(([key, value]): [string, unknown] => {
    const below = values[key];
    return [key, isMap(below) && isMap(value) ? mergeValues(below, value) : value];
  });
  return { ...values, ...Object.fromEntries(merged) };
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
