import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { z } from "zod";
import { record } from "../../../../components/model/untyped.ts";
import { projectFile } from "../../../../scripts/tools/settings/projectFile.ts";
import { projectName } from "../../../../stacks/config/settingsFile.ts";
import { clusterConfigSchema, secretKeys } from "../../../../stacks/schema/clusterConfig.ts";

interface Declaration {
  readonly type?: string;
  readonly items?: unknown;
  readonly description?: string;
  readonly default?: unknown;
}

const text = readFileSync("Pulumi.yaml", "utf8");
const project = parse(text);
const declarations: Record<string, Declaration> = project.config;
const keys = Object.entries(clusterConfigSchema.shape).map(([key, schema]) => ({
  key,
  schema,
  declared: declarations[key],
}));
const emptyOf: Record<string, unknown> = { string: "", array: [], object: {} };

describe("Pulumi.yaml", () => {
  test("has the block 'config:' that the schema generates (npm run settings)", () => {
    expect(projectFile(text)).toBe(text);
  });

  test("has the name that precedes the keys", () => {
    expect(project.name).toBe(projectName);
  });

  test("has Node run the TypeScript as it is", () => {
    expect(project).toMatchObject({ main: "main.mjs", runtime: { name: "nodejs", options: { typescript: false } } });
  });

  test("declares the keys of the schema, in its order, and no others", () => {
    expect(Object.keys(declarations)).toEqual(Object.keys(clusterConfigSchema.shape));
  });

  test.each(keys)("describes $key in plain sentences without Markdown", ({ declared }) => {
    expect(declared?.description).toMatch(/^[A-Z][^\n`[\]]*\.$/);
  });

  test.each([...secretKeys])("describes how to set the secret %s", (key) => {
    expect(declarations[key]?.description).toMatch(/ Encrypt it with --secret\.$/);
  });

  test.each(keys)(
    "declares $key with the schema's type, a secret that is no text with none",
    ({ key, schema, declared }) => {
      const { type, items } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
      expect(declared?.type).toBe(secretKeys.has(key) && type !== "string" ? undefined : type);
      expect(declared?.items).toEqual(declared?.type === "array" ? { type: record(items).type } : undefined);
    },
  );

  // For a key without a default the engine reports that it is missing ("Stack 'dev' is missing configuration value"), and stops.
  test.each(keys)("gives $key the schema's default, an empty value where it has none", ({ schema, declared }) => {
    const byDefault = schema.safeParse(undefined);
    const hasDefault = byDefault.success && byDefault.data !== undefined;
    if (hasDefault) expect(schema.parse(declared?.default)).toEqual(byDefault.data);
    else expect(declared?.default).toEqual(emptyOf[declared?.type ?? ""]);
  });

  test("keeps the text before the block, and is refused without one", () => {
    expect(projectFile("name: a\nconfig:\n  old: {}\n")).toMatch(/^name: a\nconfig:\n {2}clusterName:\n/);
    expect(() => projectFile("name: a\n")).toThrow("no block 'config:'");
  });
});
