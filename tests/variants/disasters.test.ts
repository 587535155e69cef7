// The disasters of docs/disasters.md, by the commands that it has: all control planes of a cluster on existing machines, and then its state too.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { stringify } from "yaml";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { BenchLab } from "../lab/support/benchLab.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { Workbench } from "../support/cli.ts";
import { Secrets } from "../support/leaks.ts";
import { type SeenProcess, watchProcesses } from "../support/processes.ts";
import { watchFiles } from "../support/watchFiles.ts";

jest.setTimeout(900_000);

const bench = new Workbench({ fresh: false });
const lab = new BenchLab(bench, "disasters");
const folder = join(bench.folder, "backups");
const key = join(bench.folder, "key.txt");
const timeout = 600_000;
const silent = ["--yes", "--skip-preview"];
const controlPlanes = { "cp-1": "10.0.0.11", "cp-2": "10.0.0.12", "cp-3": "10.0.0.13" };

describe("three control planes and a worker on existing machines (S7.4)", () => {
  const secrets = new Secrets();
  let name: string;
  beforeAll(async () => {
    const identity = await generateIdentity();
    writeFileSync(key, identity, { mode: 0o600 });
    secrets.add("the identity", identity);
    const off = { enabled: false };
    const config = {
      ...environment({
        platform: "existing",
        controlPlanes: 3,
        workers: 1,
        config: { csi: off, sealedSecrets: off, flux: off },
      }),
      charts: { path: labCharts },
      lab: { name: "disasters" },
      ageRecipients: [await identityToRecipient(identity)],
      backup: { folder },
      timeouts: { bootstrap: 90, configure: 90 },
    };
    const keys = Object.entries(config).map(([title, value]) => [`sluice:${title}`, value]);
    name = bench.addSettings("disasters", stringify({ config: Object.fromEntries(keys) }));
    mkdirSync(folder);
    await lab.start();
    await up();
    await lab.said("kubectl", "create", "configmap", "before", "--from-literal", "text=in-a-snapshot");
    secrets.add("an object of etcd", "in-a-snapshot");
    await succeeds("backup", name);
    await lab.said("kubectl", "create", "configmap", "after", "--from-literal", "text=lost");
  });
  afterAll(async () => {
    await lab.down();
    bench.remove();
  });

  const variables = { SLUICE_AGE_IDENTITY_FILE: key };
  const run = (script: string, ...args: readonly string[]) => bench.npmWith({ timeout, variables }, script, ...args);
  const succeeds = async (script: string, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(script, ...args);
    if (code !== 0) throw new Error(`${script} ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  const up = (...options: readonly string[]) => succeeds("up", name, ...silent, ...options);
  const refreshed = async () => {
    await succeeds("refresh", name, ...silent);
    return await up();
  };
  const newest = () => readdirSync(join(folder, "test")).sort().at(-1) ?? "";
  /** The lab's name of a node's machine. */
  const machine = (node: string) => `test-${node}`;
  const fact = () => lab.facts.all.at(-1);
  /** As a user does it. */
  const reset = async (...nodes: readonly (keyof typeof controlPlanes)[]) => {
    const labels = ["STATE", "EPHEMERAL"].flatMap((label) => ["--system-labels-to-wipe", label]);
    for (const node of nodes) {
      const before = fact();
      const options = [...labels, "--reboot", "--graceful=false", "--wait=false", "--nodes", controlPlanes[node]];
      await lab.said("talosctl", "reset", ...options);
      await lab.facts.until({ subject: machine(node), what: "stage", value: "maintenance", after: before }, 60_000);
    }
  };
  const configMaps = async () =>
    (await lab.said("kubectl", "get", "configmap", "--output", "jsonpath={.items[*].metadata.name}")).split(" ");
  const isRestored = async () => {
    expect(await configMaps()).toContain("before");
    expect(await configMaps()).not.toContain("after");
    await lab.said("kubectl", "wait", "nodes", "--all", "--for=condition=Ready", "--timeout=60s");
    expect((await lab.said("kubectl", "get", "nodes", "--output", "name")).trim().split("\n")).toHaveLength(4);
  };

  test("are not restored while one of them has the etcd", async () => {
    await reset("cp-2", "cp-3");
    bench.editEnvironment(name, { restoreFrom: "latest" });
    const refused = await run("up", name, ...silent);
    expect(refused.code).not.toBe(0);
    const isAsked = ({ what, value }: { what: string; value?: unknown }) => what === "bootstrap" && value === "asked";
    expect(lab.facts.all.filter(isAsked)).toHaveLength(1);
    expect(await lab.said("talosctl", "get", "members", "--nodes", controlPlanes["cp-1"])).toContain("cp-1");
  });

  test("are restored in place once the last one is reset", async () => {
    await reset("cp-1");
    const refused = await run("up", name, ...silent, "--new-cluster");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("remove restoreFrom. Nothing was changed"),
    });
    expect(await refreshed()).toContain(`etcd was restored from the backup ${newest()}`);
    await isRestored();
  });

  test("are backed up with 10,000 objects", async () => {
    const objects = (part: number) =>
      Array.from({ length: 1_000 }, (_, index) => ({
        ...{ apiVersion: "v1", kind: "ConfigMap", data: { text: "x".repeat(500) } },
        metadata: { name: `many-${part}-${index}`, namespace: "kube-public" },
      }));
    const create = async (part: number) => {
      const file = join(bench.folder, `many-${part}.json`);
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects(part) }));
      await lab.said("kubectl", "create", "--filename", file);
    };
    await Promise.all(Array.from({ length: 10 }, (_, part) => create(part)));
    expect(await succeeds("backup", name)).toMatch(/etcd: revision \d+, \d{5} records/);
    await lab.said("kubectl", "create", "configmap", "after", "--from-literal", "text=lost");
  });

  test("are restored after their machines and the state are lost: from the environment's file, the backup and the age identity", async () => {
    for (const node of ["cp-1", "cp-2", "cp-3", "w-1"]) {
      const before = fact();
      const { mac, uuid } = JSON.parse(
        await succeeds("lab", "--name", "disasters", "machine", "replace", machine(node)),
      );
      await lab.facts.until({ subject: machine(node), what: "stage", value: "maintenance", after: before }, 60_000);
      bench.editNode(name, node, { mac, uuid });
    }
    // What an empty checkout does not have.
    for (const lost of ["state", "passphrase", "settings"])
      rmSync(join(bench.work, lost), { recursive: true, force: true });
    const refused = await run("up", name, ...silent);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("SLU-B108") });
    const file = join(folder, "test", newest(), "secrets.yaml.age");
    await succeeds("secrets", "import", name, "--file", file, "--identity", key);
    const processes = watchProcesses(bench.work);
    const files = watchFiles([bench.work, folder, join(bench.folder, "tmp")], secrets);
    const printed = await up();
    const seen: readonly SeenProcess[] = processes.stop();
    const leaks = files.stop();
    expect(printed).toContain(`etcd was restored from the backup ${newest()}`);
    await isRestored();
    expect(secrets.foundIn(seen.map(({ command }) => command).join("\n"))).toEqual([]);
    const disks = join(bench.work, "lab", "disasters", "state");
    expect(Object.entries(leaks).filter(([path]) => !path.startsWith(disks))).toEqual([]);
    await up("--expect-no-changes");
  });
});
