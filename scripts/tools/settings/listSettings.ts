// Every key of an environment, with everything that the schema says about it.
import { z } from "zod";
import { changes } from "../../../components/model/settings/documentation.ts";
import type { Platform } from "../../../stacks/platforms/platform.ts";
import { allPlatforms } from "../../../stacks/platforms/registry.ts";
import { clusterConfigSchema } from "../../../stacks/schema/clusterConfig.ts";
import { bareSchema, metadata } from "../../../stacks/schema/schemaWalk.ts";

export interface Setting {
  /** As in `nodes[].install.disk`. */
  readonly key: string;
  /** The schema without its wrappers. */
  readonly schema: z.core.$ZodType;
  readonly documentation: Documentation;
  /** Its value if it is not set: a default; `required`; or undefined, and `fallback` describes what is used instead. */
  readonly default: { readonly value: unknown } | "required" | undefined;
  /** The platforms that read it, if not all do. */
  readonly platforms: readonly Platform[] | undefined;
}

export type Documentation = z.output<typeof documentation>;

/** What `.meta()` may contain. Its type cannot refuse a misspelt key, so this does. */
const documentation = z.strictObject({
  description: z.string().regex(/^\S.*\.$/, "must be a sentence"),
  form: z.string().optional(),
  unit: z.string().optional(),
  example: z.unknown().optional(),
  fallback: z.string().optional(),
  needsLayer2: z.literal(true).optional(),
  change: z.enum(Object.keys(changes)).optional(),
  sameAs: z.string().optional(),
});

/** What keys inherit from the key above them. */
interface Above {
  readonly key: string;
  readonly change?: string | undefined;
  /** The map's default; undefined if its keys only have their own defaults. */
  readonly value?: unknown;
}

const topLevel: Readonly<Record<string, z.core.$ZodType>> = clusterConfigSchema.shape;

/** Only the top-level keys. */
export function topLevelSettings(): Setting[] {
  return Object.entries(topLevel).map(([key, schema]) => settingAt(schema, { key }));
}

/** Top-level keys with everything inside them. */
export function listSettings(keys: readonly string[] = Object.keys(topLevel)): Setting[] {
  return keys.flatMap((key) => (topLevel[key] === undefined ? [] : [...settingsAt(topLevel[key], { key })]));
}

function* settingsAt(schema: z.core.$ZodType, above: Above): Generator<Setting> {
  const setting = settingAt(schema, above);
  const { key, default: unset, documentation: own } = setting;
  const inside = own.sameAs === undefined ? mapIn(setting.schema) : undefined;
  // A map with a default always exists, so the user only sets its keys.
  if (inside === undefined || inside.isList || typeof unset !== "object") yield setting;
  for (const [name, child] of Object.entries(inside?.map.shape ?? {})) {
    const value = typeof unset === "object" ? (unset.value as Readonly<Record<string, unknown>>)[name] : undefined;
    yield* settingsAt(child, { key: `${key}${inside?.isList ? "[]" : ""}.${name}`, change: own.change, value });
  }
}

function settingAt(schema: z.core.$ZodType, { key, change, value }: Above): Setting {
  const read = documentation.safeParse({ change, ...metadata(schema) });
  if (!read.success) throw new Error(`the documentation of ${key} in the schema: ${z.prettifyError(read.error)}`);
  const absent = z.safeParse(schema, undefined);
  const own = absent.success ? absent.data : value;
  const unset = own !== undefined ? { value: own } : absent.success ? undefined : ("required" as const);
  return {
    key,
    schema: bareSchema(schema),
    documentation: read.data,
    default: unset,
    platforms: platformsOf(key, read.data),
  };
}

function platformsOf(key: string, { needsLayer2 }: Documentation): readonly Platform[] | undefined {
  const [, nodeKey] = /^nodes\[\]\.(\w+)$/.exec(key) ?? [];
  const owners = allPlatforms.filter(({ nodeKeys }) => nodeKey !== undefined && nodeKey in nodeKeys);
  const readers = allPlatforms.filter(
    ({ refusedNodeKeys, noSharedAddress }) =>
      !(nodeKey !== undefined && nodeKey in refusedNodeKeys) && !(needsLayer2 && noSharedAddress !== undefined),
  );
  if (owners.length > 0) return owners;
  return readers.length < allPlatforms.length ? readers : undefined;
}

function mapIn(schema: z.core.$ZodType): { readonly map: z.ZodObject; readonly isList: boolean } | undefined {
  const isList = schema instanceof z.ZodArray;
  const map = isList ? bareSchema(schema.element) : schema;
  return map instanceof z.ZodObject ? { map, isList } : undefined;
}
