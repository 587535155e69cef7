// The properties of a resource or function in an SDK and in a plugin, in one form: every property down to the last, by its path.

/** A property: `networks[].ip` of a list's items, `labels.*` of a map's values. */
export interface Property {
  /** What a value is: `string`, `list`, `object`, ... */
  readonly type: string;
  /** Must be given (input), or is always present (output). */
  readonly required: boolean;
}

export type Properties = ReadonlyMap<string, Property>;

export interface Shape {
  readonly token: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
}

/** One level of a type, whatever it was read from. */
export type Level =
  | { readonly kind: "leaf"; readonly type: string }
  | { readonly kind: "list" | "map"; readonly of: () => Level }
  | { readonly kind: "object"; readonly identity: unknown; readonly fields: () => readonly Field[] };

export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly level: Level;
}

/** One of several types, in a fixed order; the properties of different ones are not compared. */
export function oneOf(levels: readonly Level[]): Level {
  const types = new Set(levels.map((level) => (level.kind === "leaf" ? level.type : level.kind)));
  const [only] = levels;
  return only !== undefined && types.size === 1 ? only : { kind: "leaf", type: [...types].sort().join(" or ") };
}

/** All properties below the fields. A type within itself is entered once. */
export function propertiesOf(fields: readonly Field[]): Properties {
  const properties = new Map<string, Property>();
  const walk = (path: string, required: boolean, level: Level, within: readonly unknown[]): void => {
    properties.set(path, { type: level.kind === "leaf" ? level.type : level.kind, required });
    if (level.kind === "list") walk(`${path}[]`, true, level.of(), within);
    if (level.kind === "map") walk(`${path}.*`, true, level.of(), within);
    if (level.kind !== "object" || within.includes(level.identity)) return;
    for (const field of level.fields()) {
      walk(`${path}.${field.name}`, field.required, field.level, [...within, level.identity]);
    }
  };
  for (const { name, required, level } of fields) walk(name, required, level, []);
  return properties;
}

/**
 * What would break a program that was written for the SDK, in the SDK's terms. Properties that only the plugin has do not count, unless the plugin requires
 * them.
 */
export function differences(sdk: Shape, plugin: Shape): string[] {
  const found: string[] = [];
  for (const side of ["inputs", "outputs"] as const) {
    const told = side === "inputs" ? "input" : "output";
    for (const [path, { type, required }] of sdk[side]) {
      const there = plugin[side].get(path);
      if (there === undefined) {
        if (hasParent(path, plugin[side])) found.push(`${told} ${path}: the plugin has it not`);
      } else if (there.type !== type) {
        found.push(`${told} ${path}: ${type} in the SDK, ${there.type} in the plugin`);
      } else if (there.required !== required) {
        found.push(`${told} ${path}: ${word(side, required)} in the SDK, ${word(side, there.required)} in the plugin`);
      }
    }
  }
  for (const [path, { required }] of plugin.inputs) {
    if (required && !sdk.inputs.has(path) && hasParent(path, sdk.inputs)) {
      found.push(`input ${path}: required by the plugin, and the SDK has it not`);
    }
  }
  return found;
}

function word(side: "inputs" | "outputs", required: boolean): string {
  if (side === "inputs") return required ? "required" : "optional";
  return required ? "always there" : "not always there";
}

/** Only the outermost missing or different property is reported. */
function hasParent(path: string, properties: Properties): boolean {
  const parent = path.replace(/(\[\]|\.[^.[]+)$/, "");
  return parent === path || properties.has(parent);
}
