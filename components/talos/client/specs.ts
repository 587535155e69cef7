// Specs of resources come as they are: what is read of one may not be there.

export function fieldOf(spec: unknown, key: string): unknown {
  return typeof spec === "object" && spec !== null ? (spec as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** Empty where there is no such text. */
export function textOf(spec: unknown, key: string): string {
  const value = fieldOf(spec, key);
  return typeof value === "string" ? value : "";
}
