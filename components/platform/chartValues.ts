// Checks values for a chart with the list of all values that the chart reads. Helm itself ignores unknown values.
import { isMapping } from "../model/untyped.ts";
import type { Values } from "./mergeValues.ts";

/** The types of each value by its path, as in `hubble.relay.enabled`; `map` means a map with the user's own keys. */
export type ValueTypes = ReadonlyMap<string, readonly string[]>;

/** One line for each value: its path, and its types with `|` between them. */
export function parseValueTypes(text: string): ValueTypes {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [path = "", types = ""] = line.split(" ");
      return [path, types.split("|")];
    }),
  );
}

export type ValueFinding =
  | { readonly kind: "unknown"; readonly path: readonly string[]; readonly siblings: readonly string[] }
  | {
      readonly kind: "type";
      readonly path: readonly string[];
      readonly types: readonly string[];
      readonly value: unknown;
    };

/** Every value that the chart does not read, or reads as another type. */
export function valueFindings(values: Values, types: ValueTypes): ValueFinding[] {
  const known = keysByParent(types);
  return findings(values, [], types, known);
}

function findings(
  values: Values,
  above: readonly string[],
  types: ValueTypes,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): ValueFinding[] {
  return Object.entries(values).flatMap(([key, value]): ValueFinding[] => {
    const path = [...above, key];
    const [name, parent] = [path.join("."), above.join(".")];
    const siblings = known.get(parent) ?? new Set();
    if (!siblings.has(key)) return [{ kind: "unknown", path, siblings: [...siblings] }];
    if (value === null) return []; // removes the chart's default
    const own = types.get(name);
    if (own === undefined) {
      return isMapping(value) ? findings(value, path, types, known) : [{ kind: "type", path, types: ["map"], value }];
    }
    return own.includes("any") || own.includes(typeOf(value)) || (own.includes("number") && typeof value === "number")
      ? []
      : [{ kind: "type", path, types: own, value }];
  });
}

/** The keys of each map; those at the top are under "". */
function keysByParent(types: ValueTypes): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, Set<string>>();
  for (const name of types.keys()) {
    const parts = name.split(".");
    for (const [index, part] of parts.entries()) {
      const parent = parts.slice(0, index).join(".");
      known.set(parent, (known.get(parent) ?? new Set()).add(part));
    }
  }
  return known;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (isMapping(value)) return "map";
  return Number.isInteger(value) ? "integer" : typeof value;
}
