import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { changes } from "../../../../components/model/settings/documentation.ts";
import { listSettings } from "../../../../scripts/tools/settings/listSettings.ts";
import { settingsPage } from "../../../../scripts/tools/settings/settingsPage.ts";
import { clusterConfigSchema, secretKeys } from "../../../../stacks/schema/clusterConfig.ts";
import { knownKeys } from "../../../../stacks/schema/schemaWalk.ts";
import { switches } from "../../../../stacks/schema/switches.ts";

type Path = readonly (string | 0)[];

/** Every section, with only its required keys. */
const sample = {
  clusterName: "a",
  platform: "existing",
  talosVersion: "1.12.6",
  kubernetesVersion: "1.35.4",
  nodes: [{ name: "cp-1", role: "controlplane", address: "10.0.0.11", size: {} }],
  network: { nodeCidr: "10.0.0.0/24", vlan: { tag: 1, mode: "access" } },
  patches: [{ name: "a", patch: {} }],
  hetzner: { loadBalancer: { address: "10.0.0.5" } },
  proxmox: { endpoint: "https://10.0.0.2:8006", hosts: ["pve"] },
  existing: {},
  lab: { name: "a" },
};
const defaults: unknown = clusterConfigSchema.parse(sample);

const page = readFileSync("docs/environments.md", "utf8");
/** Documented once, with the keys of `install` and `patches`. */
const elsewhere = /^(nodes\[\]\.install|secretPatches\[\])\./;
const rows = [...page.matchAll(/^\| `([^`]+)` \| (.+?) \| (.+?) \| (.+?) \|(?: (.*) \|)?$/gm)].map(
  ([, key = "", value = "", byDefault = "", text = "", change = ""]) => ({ key, value, byDefault, text, change }),
);
const keys = leaves([])
  .map((path) => ({ path, key: spelled(path) }))
  .filter(({ key }) => !elsewhere.test(key));

/** The paths of all values, with `0` for each element of a list. */
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

/** The sample without the value at a path. */
function without(path: Path): unknown {
  const copy = structuredClone(sample);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>; // the sample has the path
  delete parent[String(path.at(-1))];
  return copy;
}

describe("docs/environments.md", () => {
  test("has the tables that the schema generates (npm run settings)", () => {
    expect(settingsPage(page)).toBe(page);
  });

  test("lists every key of the schema once", () => {
    const listed = rows.map(({ key }) => key);
    expect(listed.filter((key) => keys.some((one) => one.key === key)).sort()).toEqual(
      keys.map(({ key }) => key).sort(),
    );
    expect(new Set(listed).size).toBe(listed.length);
  });

  test.each(keys)("says what $key is where it is not set", ({ path, key }) => {
    const { byDefault = "" } = rows.find((row) => row.key === key) ?? {};
    if (valueAt(sample, path) !== undefined) {
      expect(clusterConfigSchema.safeParse(without(path)).success).toBe(false);
      expect(byDefault).toBe("required");
      return;
    }
    const value = valueAt(defaults, path);
    const [, literal] = /^`([^`]*)`$/.exec(byDefault) ?? [];
    if (value === undefined || key === "services.interfaces") expect(byDefault).toMatch(/^none$|\w{3}/);
    else expect(parse(literal ?? "")).toEqual(value);
  });

  test.each([...secretKeys])("marks %s as secret", (key) => {
    expect(rows.find((row) => row.key === key)?.text).toMatch(/^Secret\. /);
  });

  test("names the platforms of a key that not all platforms read", () => {
    const text = (key: string) => rows.find((row) => row.key === key)?.text;
    expect(text("nodes[].vmId")).toMatch(/^Only Proxmox\. /);
    expect(text("nodes[].reach")).toMatch(/^Only existing machines\. /);
    expect(text("nodes[].mac")).toMatch(/^Not on Hetzner\. /);
    expect(text("nodes[].name")).not.toMatch(/^(Only|Not on) /);
  });

  test("explains every effect of a change that its tables name", () => {
    const named = new Set(rows.map(({ change }) => change).filter((change) => change !== ""));
    expect([...named].sort()).toEqual(Object.keys(changes).sort());
    for (const [change, meaning] of Object.entries(changes)) expect(page).toContain(`\n| ${change} | ${meaning} |\n`);
  });

  test("names every switch that a patch may depend on", () => {
    const [, text = ""] = /^`patches\[\]\.when` names a switch.*?: ((?:.+\n)+)/m.exec(page) ?? [];
    for (const name of Object.keys(switches)) expect(text).toContain(`\`${name}\``);
  });
});

describe("the tables of settings", () => {
  test.each([
    ["is in no table", page.replace("<!-- settings: existing -->", "<!-- settings -->"), "existing is in no table"],
    ["is in two tables", page.replace("settings: machine ", "settings: machine nodes "), "nodes is in two tables"],
    ["is not in the schema", page.replace("settings: machine ", "settings: machine foo "), "foo is no top-level key"],
  ])("are refused if a top-level key %s", (_, text, message) => {
    expect(() => settingsPage(text)).toThrow(message);
  });

  test("show the value, the default and the effect of a change of a key", () => {
    expect(rows.find(({ key }) => key === "nodes[].size.memory")).toEqual({
      key: "nodes[].size.memory",
      value: "MiB, 1024 or more",
      byDefault: "`proxmox.sizes` of its role",
      text: "Memory. Example: `8192`.",
      change: "at the next start",
    });
  });

  test("come from documentation that describes every key, and whose examples are valid", () => {
    for (const { key, schema, documentation } of listSettings()) {
      expect([key, documentation.description.length > 5]).toEqual([key, true]);
      if (documentation.example === undefined) continue;
      const read =
        "safeParse" in schema ? (schema as typeof clusterConfigSchema).safeParse(documentation.example) : undefined;
      expect([key, read?.success]).toEqual([key, true]);
    }
  });
});
