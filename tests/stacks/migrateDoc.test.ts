// Compares the keys in docs/migrate.md with the schema, and its examples with the rules.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { knownKeys } from "../../stacks/schema/schemaWalk.ts";

const page = readFileSync(`${import.meta.dirname}/../../docs/migrate.md`, "utf8");

/** The examples in a language, from their fences. */
const examples = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, text = ""]): unknown =>
    parse(text),
  );

/** The keys of Sluice: the second cell of tables with three columns; in those with two, whatever has the form of a key. */
const keys = [
  ...[...page.matchAll(/^\| .+? \| (.*?) \| .*\|$/gm)].flatMap(([, here = ""]) => quoted(here)),
  ...[...page.matchAll(/^\| [^|]+ \| ([^|]+) \|$/gm)]
    .flatMap(([, here = ""]) => quoted(here))
    .map((text) => text.replace(/: .*/, "")),
].filter((text) => /^[a-z][\w.[\]]*$/i.test(text));

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

/** Whether an environment may have a key, written as in `nodes[].install.disk`. */
function isKey(text: string): boolean {
  const path = text.split(/\.|(?=\[\])/).map((part) => (part === "[]" ? 0 : part));
  const last = path.at(-1);
  return last === 0 ? knownKeys(path).length > 0 : knownKeys(path.slice(0, -1)).includes(String(last));
}

/** The content of an environment's file, as the program reads it. */
function environment(example: unknown) {
  const { config } = example as { config: Record<string, unknown> };
  return parseClusterConfig(
    Object.fromEntries(Object.entries(config).map(([key, value]) => [key.replace(/^sluice:/, ""), value])),
  );
}

describe("docs/migrate.md", () => {
  const [talconfig, existing, proxmox] = examples("yaml");
  const [nodesJson] = examples("json") as Record<string, Record<string, unknown>>[];

  test("names only keys of the schema", () => {
    expect(keys.filter((key) => !isKey(key))).toEqual([]);
    expect(keys.length).toBeGreaterThan(60);
    expect(["nodes[].name", "nodes[]", "network.vip"].map(isKey)).toEqual([true, true, true]);
    expect(["nodes[].hostname", "nods[]", "vip", "network.vip.ip"].map(isKey)).toEqual([false, false, false, false]);
  });

  test("S4.2 its environment for the first talconfig.yaml has the same nodes and versions", () => {
    const before = talconfig as {
      clusterName: string;
      talosVersion: string;
      endpoint: string;
      nodes: { hostname: string; ipAddress: string; controlPlane: boolean }[];
    };
    const config = environment(existing);
    expect([config.clusterName, `v${config.talosVersion}`]).toEqual([before.clusterName, before.talosVersion]);
    expect(before.endpoint).toBe(`https://${config.network.vip}:6443`);
    expect(config.nodes.map(({ name, address, role }) => [name, address, role])).toEqual(
      before.nodes.map(({ hostname, ipAddress, controlPlane }) => [
        hostname,
        ipAddress,
        controlPlane ? "controlplane" : "worker",
      ]),
    );
  });

  test("S4.2 its environment for the first nodes.json has the same machines", () => {
    const config = environment(proxmox);
    expect(
      Object.fromEntries(
        config.nodes.map(({ name, host, role, address, mac, vmId }) => {
          const { cores, memory } = config.proxmox?.sizes[role] ?? {};
          return [name, { host, role, ip: address, mac: mac?.toUpperCase(), vm_id: vmId, cores, memory }];
        }),
      ),
    ).toEqual(nodesJson);
  });
});
