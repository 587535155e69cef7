// Reads values that came from outside, or from a state of another version.

/** Whether a value is a mapping, and not a list. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The mapping itself; an empty one for anything else. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}

/** The list itself; an empty one for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text itself; an empty one for anything else. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
