// All control planes of a cluster are lost with their disks: new machines get its etcd from a backup.
import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { Chain, type Run } from "../lab/support/chain.ts";

jest.setTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), "sluice-lost-"));
const key = join(folder, "key.txt");
const claim = [
  {
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
  },
  {
    kind: "Pod",
    metadata: { name: "data" },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": "w-1" },
      containers: [{ name: "it", image: "pause", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    },
  },
];

const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];

describe("three control planes and a worker, of which all control planes are lost (S7.4)", () => {
  let chain: Chain;
  let before: { readonly systemUUIDs: string; readonly greeting: string; readonly volume: string };
  let restored: Run;
  beforeAll(async () => {
    const identity = await generateIdentity();
    writeFileSync(key, identity, { mode: 0o600 });
    chain = await Chain.of({ controlPlanes: 3, workers: 1, variables: { SLUICE_AGE_IDENTITY_FILE: key } });
    await chain.up();
    await chain.kubectl("create", "configmap", "before", "--from-literal", "text=kept");
    const objects = claim.map((object) => JSON.stringify({ apiVersion: "v1", ...object })).join("\n---\n");
    await chain.kubectl("apply", "--filename", await chain.lab.write("claim.yaml", objects));
    await chain.kubectl("wait", "pod", "data", "--for=condition=Ready", "--timeout=60s");
    chain.configure({ ageRecipients: [await identityToRecipient(identity)], backup: { folder } });
    await chain.up();
    await chain.kubectl("create", "configmap", "after", "--from-literal", "text=lost");
    before = { systemUUIDs: await uuids(), greeting: await chain.kubectl(...greeting), volume: await volume() };
    const { servers } = await chain.cloud.call("GET", "/servers");
    for (const { id, name } of servers) if (/-cp-/.test(name)) await chain.cloud.call("DELETE", `/servers/${id}`);
  });
  afterAll(async () => {
    await chain?.down();
    rmSync(folder, { recursive: true });
  });

  const backups = () => readdirSync(join(folder, "test")).sort();
  const uuids = () => chain.kubectl("get", "nodes", "--output", "jsonpath={.items[*].status.nodeInfo.systemUUID}");
  const volume = () => chain.kubectl("get", "pvc", "data", "--output", "jsonpath={.status.phase} {.spec.volumeName}");
  const bootstraps = () => chain.lab.facts.all.filter(({ what, value }) => what === "bootstrap" && value === "asked");

  test("get no etcd from a truncated backup: the message names the file, and etcd is not bootstrapped", async () => {
    const [taken = ""] = backups();
    const copy = join(folder, "copies", taken);
    cpSync(join(folder, "test", taken), copy, { recursive: true });
    truncateSync(join(copy, "etcd.db.gz.age"), 10_000);
    chain.configure({ restoreFrom: copy });
    expect(await chain.run("refresh")).toMatchObject({ code: 0 });
    const run = await chain.run("up");
    expect(run.code).not.toBe(0);
    expect(run.stdout).toMatch(/SLU-B103 .*\n(?:.*\n)*?.*etcd\.db\.gz\.age is damaged/);
    expect(bootstraps()).toHaveLength(1);
  });

  test("begin with the newest backup on new machines, which the next up says with what is lost", async () => {
    chain.configure({ restoreFrom: "latest" });
    restored = await chain.up();
    const [taken = ""] = backups();
    expect(restored.stdout).toMatch(
      new RegExp(`etcd was restored from the backup ${taken}: taken at .*, revision \\d+, \\d+ records`),
    );
    expect(restored.stdout).toContain("What was written later is lost");
    expect(bootstraps()).toHaveLength(2);
  });

  test("have what was written before the backup, and not what was written after it [C36]", async () => {
    expect(await chain.kubectl("get", "configmap", "before", "--output", "jsonpath={.data.text}")).toBe("kept");
    expect(await chain.kubectl("get", "configmap", "--output", "name")).not.toContain("configmap/after");
    expect(await volume()).toBe(before.volume);
    expect(before.volume).toMatch(/^Bound /);
  });

  test("S3.3 decrypt a SealedSecret from before, and Flux reconciles", async () => {
    expect(await chain.kubectl(...greeting)).toBe(before.greeting);
    await chain.kubectl("--namespace", "hello", "delete", "secret", "greeting");
    await chain.kubectl("--namespace", "hello", "wait", "secret", "greeting", "--for=create", "--timeout=60s");
    expect(await chain.kubectl(...greeting)).toBe(before.greeting);
    const reconcile = ["--namespace", "flux-system", "annotate", "gitrepository", "--all", "--overwrite"];
    await chain.kubectl(...reconcile, "reconcile.fluxcd.io/requestedAt=now");
    const handled = ["gitrepository", "--all", "--for=jsonpath={.status.lastHandledReconcileAt}=now"];
    await chain.kubectl("--namespace", "flux-system", "wait", ...handled, "--timeout=60s");
  });

  test("have no Node, lease or CSINode of the machines that are gone, one line each", async () => {
    for (const node of ["cp-1", "cp-2", "cp-3"]) {
      expect(restored.stdout).toMatch(new RegExp(`deleted Node ${node}: it is of a machine that is gone`));
      expect(restored.stdout).toMatch(new RegExp(`deleted Lease of the node ${node}`));
      expect(restored.stdout).toMatch(new RegExp(`deleted CSINode ${node}`));
    }
    expect(restored.stdout).not.toMatch(/deleted \w+ .*w-1/);
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=60s");
    const [was, is] = [before.systemUUIDs.split(" "), (await uuids()).split(" ")];
    expect(is).toHaveLength(4);
    expect(is.filter((uuid) => was.includes(uuid))).toHaveLength(1);
  });

  test("are left alone by restoreFrom while they live: nothing to do, and with another backup a line that says so", async () => {
    expect((await chain.up()).steps).toEqual([]);
    chain.configure({ restoreFrom: backups()[0] });
    const run = await chain.up();
    expect(run.stdout).toContain("restoreFrom has no effect: the cluster has an etcd, and its data stay");
    expect(run.steps.map(({ op, type }) => `${op} ${type}`)).toEqual([
      "update pulumi-nodejs:dynamic/backup:Restore",
      "update pulumi-nodejs:dynamic/backup:StaleNodes",
    ]);
    expect(bootstraps()).toHaveLength(2);
  });
});
