// docs/environments.md lists every key with its default: this holds it to the schema.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { switches } from "../../stacks/rules/switches.ts";
import { clusterConfigSchema } from "../../stacks/schema.ts";
import { knownKeys } from "../../stacks/schemaWalk.ts";

type Path = readonly (string | 0)[];

/** Every section that there is, each with nothing but what it requires. */
const sample = {
  clusterName: "a",
  platform: "existing",
  talosVersion: "1.12.6",
  kubernetesVersion: "1.35.4",
  nodes: [{ name: "cp-1", role: "controlplane", address: "10.0.0.11" }],
  network: { nodeCidr: "10.0.0.0/24", vlan: { tag: 1, mode: "access" } },
  patches: [{ name: "a", patch: {} }],
  secretPatches: [{ name: "a", patch: {} }],
  hetzner: { loadBalancer: { address: "10.0.0.5" } },
  proxmox: { endpoint: "https://10.0.0.2:8006", hosts: ["pve"] },
  existing: {},
  lab: { name: "a" },
};
const defaults: unknown = clusterConfigSchema.parse(sample);

const doc = readFileSync(`${import.meta.dirname}/../../docs/environments.md`, "utf8");
const rows = [...doc.matchAll(/^\| `([^`]+)` \| (.+?) \| ?(.*?)\|$/gm)].map(
  ([, key = "", byDefault = "", text = ""]) => ({
    key,
    byDefault,
    text,
  }),
);
const keys = leaves([]).map((path) => ({ path, key: spelled(path) }));

/** The places where a value stands, `0` for each element of a list. */
function leaves(path: Path): Path[] {
  const inside = knownKeys(path);
  if (inside.length > 0) return inside.flatMap((key) => leaves([...path, key]));
  return path.at(-1) !== 0 && knownKeys([...path, 0]).length > 0 ? leaves([...path, 0]) : [path];
}

function spelled(path: Path): string {
  return path
    .map((key) => (key === 0 ? "[]" : `.${key}`))
    .join("")
    .slice(1);
}

function valueAt(whole: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], whole);
}

/** Sample without the value at a path that it has. */
function without(path: Path): unknown {
  const copy = structuredClone(sample);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>; // the sample has the path
  delete parent[String(path.at(-1))];
  return copy;
}

describe("docs/environments.md", () => {
  test("lists the keys of the schema, each once, and no others", () => {
    expect(rows.map(({ key }) => key).sort()).toEqual(keys.map(({ key }) => key).sort());
  });

  test.each(keys)("tells of $key what it is without being set", ({ path, key }) => {
    const cell = rows.find((row) => row.key === key)?.byDefault ?? "";
    if (valueAt(sample, path) !== undefined) {
      expect(clusterConfigSchema.safeParse(without(path)).success).toBe(false);
      expect(cell).toBe("required");
      return;
    }
    const value = valueAt(defaults, path);
    if (value === undefined) expect(cell).toBe("none");
    else expect(parse(/^`(.*)`$/.exec(cell)?.[1] ?? "")).toEqual(value);
  });

  test("names every switch that a patch may depend on", () => {
    const { text = "" } = rows.find(({ key }) => key === "patches[].when") ?? {};
    expect([...text.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(Object.keys(switches));
  });
});
