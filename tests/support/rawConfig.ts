// Good configurations as raw values, for tests that change something in them.
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export type RawConfig = Record<string, unknown>;

/** The two included examples, and a small one of existing machines. */
export type Base = "home" | "cloud" | "existing";

const root = `${import.meta.dirname}/../..`;

/** The values under `config:`, without the project's name before each key. */
export function rawConfig(base: Base): RawConfig {
  const file = base === "existing" ? "tests/fixtures/config/base/existing.yaml" : `Pulumi.${base}.yaml`;
  const { config } = parse(readFileSync(`${root}/${file}`, "utf8"));
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key.replace("sluice:", ""), value]));
}

/** The configuration with the value at a path such as `nodes[2].address` set, or removed if the value is undefined. */
export function changed(raw: RawConfig, path: string, value: unknown): RawConfig {
  const copy = structuredClone(raw);
  const keys = path.split(/[.[\]]+/).filter((key) => key !== "");
  const last = keys.pop() ?? "";
  const parent = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}
