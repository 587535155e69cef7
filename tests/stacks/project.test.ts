import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { z } from "zod";
import { projectName } from "../../stacks/configValues.ts";
import { clusterConfigSchema, secretKeys } from "../../stacks/schema.ts";

interface Declaration {
  readonly type?: string;
  readonly items?: unknown;
  readonly description?: string;
  readonly default?: unknown;
}

const project = parse(readFileSync(`${import.meta.dirname}/../../Pulumi.yaml`, "utf8"));
const declarations: Record<string, Declaration> = project.config;
const keys = Object.entries(clusterConfigSchema.shape).map(([key, schema]) => ({
  key,
  schema,
  declared: declarations[key],
}));
const emptyOf: Record<string, unknown> = { string: "", array: [], object: {} };

describe("Pulumi.yaml", () => {
  test("has the name that the keys stand behind", () => {
    expect(project.name).toBe(projectName);
  });

  test("has Node run the TypeScript as it is", () => {
    expect(project).toMatchObject({ main: "index.ts", runtime: { name: "nodejs", options: { typescript: false } } });
  });

  test("declares the keys of the schema, in its order, and no others", () => {
    expect(Object.keys(declarations)).toEqual(Object.keys(clusterConfigSchema.shape));
  });

  test.each(keys)("describes $key in one sentence", ({ declared }) => {
    expect(declared?.description).toMatch(/^[A-Z][^\n]*\.$/);
  });

  test.each(keys)(
    "declares $key with the schema's type, a secret that is no text with none",
    ({ key, schema, declared }) => {
      const { type } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
      expect(declared?.type).toBe(secretKeys.has(key) && type !== "string" ? undefined : type);
      expect(declared?.items).toEqual(declared?.type === "array" ? { type: "object" } : undefined);
    },
  );

  // Of a key without a default the engine says that it is missing ("Stack 'dev' is missing configuration value"), and stops.
  test.each(keys)("gives $key the schema's default, an empty value where it has none", ({ schema, declared }) => {
    const byDefault = schema.safeParse(undefined);
    const hasDefault = byDefault.success && byDefault.data !== undefined;
    if (hasDefault) expect(schema.parse(declared?.default)).toEqual(byDefault.data);
    else expect(declared?.default).toEqual(emptyOf[declared?.type ?? ""]);
  });
});
