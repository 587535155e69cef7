import { stringify } from "yaml";
import { z } from "zod";
import { bareSchema } from "../../../stacks/schema/schemaWalk.ts";
import type { Setting } from "./listSettings.ts";

/** The values that a setting accepts, in Markdown. */
export function valueText({
  schema,
  documentation: { form, unit },
}: Pick<Setting, "schema" | "documentation">): string {
  return form ?? typeText(schema, unit);
}

/** A value in YAML, on one line. */
export function yamlText(value: unknown): string {
  const text = stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
  return text.replace(/^\[ (.*) \]$/, "[$1]");
}

function typeText(schema: z.core.$ZodType, unit?: string): string {
  if (schema instanceof z.ZodEnum) return either(schema.options.map((option) => `\`${option}\``));
  if (schema instanceof z.ZodBoolean) return "`true` or `false`";
  if (schema instanceof z.ZodNumber) return numberText(schema, unit);
  if (schema instanceof z.ZodArray) {
    const element = bareSchema(schema.element);
    return element instanceof z.ZodObject ? "list of maps" : `list of ${typeText(element)}`;
  }
  return schema instanceof z.ZodObject || schema instanceof z.ZodRecord ? "map" : "text";
}

function numberText(schema: z.ZodNumber, unit: string | undefined): string {
  const kind = unit ?? (schema.isInt ? "whole number" : "number");
  const [least, most] = [schema.minValue, schema.maxValue].map((bound) =>
    bound === null || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound,
  );
  if (least === undefined) return kind;
  return most === undefined ? `${kind}, ${least} or more` : `${kind}, ${least} to ${most}`;
}

function either(options: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(options);
}
