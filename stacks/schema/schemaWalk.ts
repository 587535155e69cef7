// What the schema knows: the keys at a path, and whether a value is text.
import { z } from "zod";
import { clusterConfigSchema } from "./clusterConfig.ts";

/** The keys that a map at this path may have; none if any key is allowed (labels, a patch). */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  const schema = path.reduce<z.core.$ZodType | undefined>(below, clusterConfigSchema);
  const map = schema && bareSchema(schema);
  return map instanceof z.ZodObject ? Object.keys(map.shape) : [];
}

/** Whether a top-level value stays text: `1.12.6` is a version and `0815` may be a name, neither is a number. */
export function isText(key: string): boolean {
  const schema = below(clusterConfigSchema, key);
  const value = schema && bareSchema(schema);
  return value === undefined || value instanceof z.ZodString || value instanceof z.ZodEnum;
}

/** Whether a top-level key has a default. */
export function hasDefault(key: string): boolean {
  const schema = below(clusterConfigSchema, key);
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
}

/** What the schema says of the setting at this path, and what it is where it is not set. */
export function settingAt(path: readonly PropertyKey[]): z.core.GlobalMeta & { readonly unset?: unknown } {
  const schema = path.reduce<z.core.$ZodType | undefined>(below, clusterConfigSchema);
  if (schema === undefined) return {};
  const absent = z.safeParse(schema, undefined);
  return { ...metadata(schema), ...(absent.success && { unset: absent.data }) };
}

/** Whether the schema accepts a value at this path. */
export function accepts(path: readonly PropertyKey[], value: unknown): boolean {
  const schema = path.reduce<z.core.$ZodType | undefined>(below, clusterConfigSchema);
  return schema !== undefined && z.safeParse(schema, value).success;
}

/** The metadata of a schema and of what it is wrapped around; the outer one counts. */
export function metadata(schema: z.core.$ZodType): z.core.GlobalMeta {
  const own = z.globalRegistry.get(schema);
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapper ? { ...metadata(schema._zod.def.innerType), ...own } : { ...own };
}

function below(schema: z.core.$ZodType | undefined, key: PropertyKey): z.core.$ZodType | undefined {
  const parent = schema && bareSchema(schema);
  if (parent instanceof z.ZodObject) return parent.shape[String(key)];
  if (parent instanceof z.ZodArray) return parent.element;
  if (parent instanceof z.ZodRecord) return parent.valueType;
  return undefined;
}

/** The schema without its wrappers: optional, default, transform. */
export function bareSchema(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return bareSchema(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? bareSchema(schema.in) : schema;
}
