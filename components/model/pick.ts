/** A copy of an object with only these properties. */
export function pick<T extends object, Key extends keyof T>(from: T, ...keys: readonly Key[]): Pick<T, Key> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;
}
