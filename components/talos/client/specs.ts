// Specs of resources are untyped: any field may be missing.

export function fieldOf(spec: unknown, key: string): unknown {
  return typeof spec === "object" && spec !== null ? (spec as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** Empty if there is no such text. */
export function textOf(spec: unknown, key: string): string {
  const value = fieldOf(spec, key);
  return typeof value === "string" ? value : "";
}
