// Questions to the schema itself: which keys are known at a place, and is a value read as text.
import { z } from "zod";
import { clusterConfigSchema } from "./schema.ts";

/** The keys that a map at this path may hold; none where the keys are the person's own (labels, a patch). */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  const schema = path.reduce<z.core.$ZodType | undefined>(below, clusterConfigSchema);
  const map = schema && bare(schema);
  return map instanceof z.ZodObject ? Object.keys(map.shape) : [];
}

/** Whether a top-level value stays the text it is: `1.12.6` is a version and `0815` may be a name, neither is a number. */
export function isText(key: string): boolean {
  const schema = below(clusterConfigSchema, key);
  const value = schema && bare(schema);
  return value === undefined || value instanceof z.ZodString || value instanceof z.ZodEnum;
}

/** Whether a default takes the place of a top-level key that is absent. */
export function hasDefault(key: string): boolean {
  const schema = below(clusterConfigSchema, key);
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
}

function below(schema: z.core.$ZodType | undefined, key: PropertyKey): z.core.$ZodType | undefined {
  const parent = schema && bare(schema);
  if (parent instanceof z.ZodObject) return parent.shape[String(key)];
  if (parent instanceof z.ZodArray) return parent.element;
  return undefined;
}

/** The schema without what is wrapped around it: optional, default, transform. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return bare(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? bare(schema.in) : schema;
}
