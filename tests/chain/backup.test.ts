// Backups of a cluster as a user takes them, with `npm run backup`.
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { stringify } from "yaml";
import { clusterIdentifier } from "../../components/talos/secrets/secretsBundle.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { BenchLab } from "../lab/support/benchLab.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { Workbench } from "../support/cli.ts";
import { Secrets } from "../support/leaks.ts";
import { watchProcesses } from "../support/processes.ts";
import { secretsBundle, secretsPath } from "../support/secretsFixture.ts";
import { watchFiles } from "../support/watchFiles.ts";

jest.setTimeout(600_000);

const bench = new Workbench({ fresh: false });
const lab = new BenchLab(bench, "backup");
const folder = join(bench.folder, "backups");
const secrets = new Secrets();
const timeout = 400_000;
let name: string;
let identity: string;
/** What the first up printed. */
let up: string;

const said = ({ code, stdout, stderr }: { readonly code: number; readonly stdout: string; readonly stderr: string }) =>
  code === 0 ? "" : `${stdout}${stderr}`;
const backups = () => readdirSync(join(folder, "test")).sort();

describe("a cluster of one control plane and one worker (S7.3)", () => {
  beforeAll(async () => {
    identity = await generateIdentity();
    writeFileSync(join(bench.folder, "key.txt"), identity);
    const off = { enabled: false };
    const config = {
      ...environment({ platform: "existing", workers: 1, config: { csi: off, flux: off, sealedSecrets: off } }),
      charts: { path: labCharts },
      lab: { name: "backup" },
      ageRecipients: [await identityToRecipient(identity)],
      backup: { folder, keep: 2 },
    };
    const keys = Object.entries(config).map(([key, value]) => [`sluice:${key}`, value]);
    name = bench.addSettings("backup", stringify({ config: Object.fromEntries(keys) }));
    mkdirSync(folder);
    await lab.start();
    expect(said(await bench.npm("secrets", "import", name, "--file", secretsPath))).toBe("");
    const ended = await bench.npmWith({ timeout }, "up", name, "--yes", "--skip-preview");
    expect(said(ended)).toBe("");
    up = ended.stdout;
    const { certs, ...rest } = secretsBundle;
    secrets.addTree("machineSecrets", rest);
    for (const [title, { key }] of Object.entries(certs)) secrets.addTree(`the key of ${title}`, key);
    secrets.add("a secret in etcd", "geheim-in-etcd");
    secrets.add("the identity", identity);
    await lab.said("kubectl", "create", "configmap", "before", "--from-literal", "text=geheim-in-etcd");
  });
  afterAll(async () => {
    await lab.down();
    bench.remove();
  });

  test("S7.3 has its first backup by its first up, and a gate that proves it", async () => {
    const [first = ""] = backups();
    expect(JSON.parse(readFileSync(join(folder, "test", first, "manifest.json"), "utf8"))).toMatchObject({
      reason: "because there is none yet",
    });
    expect(up).toMatch(/^ +BackupFresh +newest compared with its manifest /m);
  });

  test("S7.3 is backed up by one command, which says what it took, from where, and where it is", async () => {
    const processes = watchProcesses(bench.work);
    const files = watchFiles([bench.work, folder], secrets);
    const { code, stdout, stderr } = await bench.npm("backup", name);
    const seen = processes.stop();
    const leaks = files.stop();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("takes an etcd snapshot of cp-1") });
    const taken = backups().at(-1) ?? "";
    expect(stdout).toMatch(
      new RegExp(
        `^${taken} in .*backups/test\n  etcd: revision \\d+, \\d+ records, [\\d.]+ MB, from cp-1; verified\n  stored: [\\d.]+ MB, encrypted for 1 age public key\n$`,
      ),
    );
    const manifest = JSON.parse(readFileSync(join(folder, "test", taken, "manifest.json"), "utf8"));
    expect(manifest.cluster).toMatchObject({ id: clusterIdentifier(secretsBundle), name: "test" });
    expect(manifest.cluster.nodes).toEqual([
      expect.objectContaining({
        name: "cp-1",
        talosVersion: expect.stringMatching(/^v?1\.13\.8$/),
        uuid: expect.any(String),
      }),
      expect.objectContaining({ name: "w-1", schematic: expect.any(String), configHash: expect.any(String) }),
    ]);
    expect(secrets.foundIn(seen.map(({ command }) => command).join("\n"))).toEqual([]);
    const disks = join(bench.work, "lab", "backup", "state");
    expect(Object.entries(leaks).filter(([file]) => !file.startsWith(disks))).toEqual([]);
  });

  test("S7.3 has backups that can be listed, verified without an identity, and opened with one", async () => {
    const listed = await bench.npm("backup", "list", name);
    expect(listed.stdout).toContain(backups()[0]);
    expect(listed.stdout).toMatch(/on request/);
    const stored = await bench.npm("backup", "verify", name);
    expect(stored.stdout).toMatch(/is stored as it was taken: .*\nIt was not decrypted: /);
    const opened = await bench.npm("backup", "verify", name, "--identity", join(bench.folder, "key.txt"));
    expect(opened.stdout).toMatch(/is complete: decrypted, hash right, etcd's database opened: revision \d+/);
  });

  test("S7.3 keeps as many as are wanted, and loses none when a snapshot is cut off or no control plane answers", async () => {
    await bench.npm("backup", name);
    const before = backups();
    const cut = await lab.fault({ on: "talos", name: "EtcdSnapshot", do: "fail", code: "Unavailable", message: "cut" });
    const failed = await bench.npm("backup", name);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/SLU-B105 No control plane gave an etcd snapshot/);
    await lab.endFault(cut);
    expect(backups()).toEqual(before);
    expect((await bench.npm("backup", name)).stdout).toContain(`deleted, because there are newer ones: ${before[0]}`);
    expect(backups()).toHaveLength(2);
  });

  test("U3 S7.3 has a missing or damaged newest backup as drift, and the next up takes another", async () => {
    const drift = () => bench.npm("drift", name);
    expect(await drift()).toMatchObject({ code: 0 });
    truncateSync(join(folder, "test", backups().at(-1) ?? "", "secrets.yaml.age"), 10);
    const damaged = await drift();
    expect(damaged.code).not.toBe(0);
    expect(damaged.stdout).toMatch(/secrets\.yaml\.age is damaged/);
    rmSync(join(folder, "test"), { recursive: true });
    expect((await drift()).stdout).toMatch(/there is no backup/);
    const silent = ["--yes", "--skip-preview"];
    await bench.npm("refresh", name, ...silent);
    const again = await bench.npmWith({ timeout }, "up", name, ...silent);
    expect(said(again)).toBe("");
    expect(backups()).toHaveLength(1);
  });

  test("S7.3 has a damaged backup found by its verification", async () => {
    const newest = backups().at(-1) ?? "";
    truncateSync(join(folder, "test", newest, "etcd.db.gz.age"), 1_000);
    const { code, stderr } = await bench.npm("backup", "verify", name);
    expect(code).toBe(1);
    expect(stderr).toMatch(/SLU-B103 .*\n.*\n.*etcd\.db\.gz\.age is damaged/);
  });
});
