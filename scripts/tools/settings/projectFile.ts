// The `config:` block of Pulumi.yaml, from which the engine knows the keys of an environment.
import { Document, isNode } from "yaml";
import { z } from "zod";
import { secretKeys } from "../../../stacks/schema/clusterConfig.ts";
import { type Setting, topLevelSettings } from "./listSettings.ts";
import { valueText, yamlText } from "./valueText.ts";

/** The values that mean absence to the engine: every key needs a default, or the engine would stop at the first missing one. */
const nothing = { string: "", array: [], object: {}, boolean: false, integer: 0 } as const;
type EngineType = keyof typeof nothing;

/** Pulumi.yaml with a new `config:` block, which is its last one. */
export function projectFile(text: string): string {
  const start = text.search(/^config:$/m);
  if (start < 0) throw new Error("Pulumi.yaml has no block 'config:'");
  return text.slice(0, start) + configBlock();
}

function configBlock(): string {
  const settings = topLevelSettings();
  const config = Object.fromEntries(settings.map((setting) => [setting.key, declaration(setting)]));
  const block = new Document({ config }, { aliasDuplicateObjects: false });
  for (const { key } of settings.filter((setting) => isUntyped(setting))) {
    const node = block.getIn(["config", key], true);
    if (isNode(node))
      node.commentBefore = " No type: encrypted as a whole it is text, with single parts encrypted it is a list.";
  }
  return block.toString({ lineWidth: 0 });
}

function declaration(setting: Setting) {
  const type = typeOf(setting.schema);
  return {
    ...(!isUntyped(setting) && { type, ...itemsOf(setting.schema) }),
    description: descriptionOf(setting),
    default: engineDefault(setting, type),
  };
}

/** The engine would refuse the encrypted text. */
function isUntyped({ key, schema }: Setting): boolean {
  return secretKeys.has(key) && typeOf(schema) !== "string";
}

function itemsOf(schema: z.core.$ZodType) {
  return schema instanceof z.ZodArray ? { items: { type: typeOf(schema.element) } } : {};
}

function typeOf(schema: z.core.$ZodType): EngineType {
  if (schema instanceof z.ZodArray) return "array";
  if (schema instanceof z.ZodObject) return "object";
  if (schema instanceof z.ZodBoolean) return "boolean";
  return schema instanceof z.ZodNumber ? "integer" : "string";
}

/** Sections get their defaults from the schema, key by key. */
function engineDefault({ default: unset }: Setting, type: EngineType): unknown {
  return typeof unset === "object" && type !== "object" ? unset.value : nothing[type];
}

/** In plain text, because Markdown is not rendered there. */
function descriptionOf({ key, schema, documentation, default: unset }: Setting): string {
  const { description, example, fallback } = documentation;
  const sentences = [
    description,
    ...(schema instanceof z.ZodEnum ? [`It is ${valueText({ schema, documentation })}.`] : []),
    ...(example === undefined ? [] : [`Example: ${yamlText(example)}.`]),
    ...(unset === undefined && fallback !== undefined ? [`Default: ${fallback}.`] : []),
    ...(secretKeys.has(key) ? ["Encrypt it with --secret."] : []),
  ];
  return sentences
    .join(" ")
    .replace(/ \(\[[^\]]+\]\([^)]+\)\)/g, "")
    .replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll("`", "");
}
