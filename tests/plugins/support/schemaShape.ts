import type { EnumSchema, ObjectSchema, PluginSchema, TypeSchema } from "./pluginSchema.ts";
import { type Field, type Level, oneOf, propertiesOf, type Shape } from "./shape.ts";

/** Pulumi's own types, as they are called in the SDKs. */
const builtIns: Readonly<Record<string, string>> = {
  Any: "any",
  Json: "any",
  Archive: "archive",
  Asset: "archive or asset",
};

type Side = "inputs" | "outputs";

/** What the plugin's schema has for a token; undefined if it does not know it. `pulumi:providers:<name>` is the provider itself. */
export function schemaShape(schema: PluginSchema, token: string): Shape | undefined {
  const read = (side: Side, properties: ObjectSchema["properties"], required: readonly string[] = []) =>
    propertiesOf(fieldsOf(schema, side, properties, required));
  const resource = token === `pulumi:providers:${schema.name}` ? schema.provider : schema.resources[token];
  if (resource !== undefined) {
    // For Kubernetes the SDK generator treats every output of a resource as always present (kubernetes20 in its gen.go).
    const isKubernetes = schema.language?.nodejs?.compatibility === "kubernetes20";
    return {
      token,
      inputs: read("inputs", resource.inputProperties, resource.requiredInputs),
      outputs: read(
        "outputs",
        resource.properties,
        isKubernetes ? Object.keys(resource.properties ?? {}) : resource.required,
      ),
    };
  }
  const invoked = schema.functions?.[token];
  if (invoked === undefined) return undefined;
  return {
    token,
    inputs: read("inputs", invoked.inputs?.properties, invoked.inputs?.required),
    outputs: read("outputs", invoked.outputs?.properties, invoked.outputs?.required),
  };
}

function fieldsOf(
  schema: PluginSchema,
  side: Side,
  properties: ObjectSchema["properties"] = {},
  required: readonly string[],
): Field[] {
  return Object.entries(properties).map(([name, type]) => ({
    name,
    required: required.includes(name),
    level: levelOf(schema, side, type),
  }));
}

function levelOf(schema: PluginSchema, side: Side, type: TypeSchema): Level {
  const inner = (of: TypeSchema | undefined) => () => levelOf(schema, side, of ?? { $ref: "pulumi.json#/Any" });
  if (type.oneOf !== undefined) return oneOf(type.oneOf.map((one) => levelOf(schema, side, one)));
  if (type.$ref !== undefined) return reference(schema, side, type.$ref);
  if (type.type === "array") return { kind: "list", of: inner(type.items) };
  if (type.type === "object") return { kind: "map", of: inner(type.additionalProperties) };
  return { kind: "leaf", type: type.type === "integer" ? "number" : (type.type ?? "any") };
}

function reference(schema: PluginSchema, side: Side, ref: string): Level {
  const builtIn = /^pulumi\.json#\/(\w+)$/.exec(ref)?.[1];
  if (builtIn !== undefined) return { kind: "leaf", type: builtIns[builtIn] ?? builtIn };
  const name = decodeURIComponent(ref.replace(/^#\/?types\//, ""));
  const type = schema.types?.[name];
  if (type === undefined) throw new Error(`the schema of ${schema.name} has no type ${name}`);
  if ("enum" in type) return { kind: "leaf", type: (type as EnumSchema).type };
  const { properties, required = [], language } = type as ObjectSchema;
  const { requiredInputs, requiredOutputs } = language?.nodejs ?? {};
  const demanded = (side === "inputs" ? requiredInputs : requiredOutputs) ?? required;
  return { kind: "object", identity: name, fields: () => fieldsOf(schema, side, properties, demanded) };
}
