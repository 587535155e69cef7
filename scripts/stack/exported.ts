// Reads what `pulumi stack export` prints.
import { isMapping, record, text } from "../../components/model/untyped.ts";

/** The resources of an exported stack, unchanged. */
export function resourcesIn(exported: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { resources } = record(record(exported).deployment);
  return Array.isArray(resources) ? resources.map(record) : [];
}

/** A value of a state that was exported with its secrets, these in plain text, also those inside of others. */
export function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isMapping(value)) return value;
  if (value.plaintext !== undefined) return plainValue(JSON.parse(text(value.plaintext)));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainValue(inner)]));
}
