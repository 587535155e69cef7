// Talos' own client against nodes of the lab, with the messages that it has for real ones (talosctl 1.13.8).
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parseAllDocuments, stringify } from "yaml";
import type { Server } from "./support/cloud.ts";
import { emptySchematic, Lab } from "./support/lab.ts";
import { Cluster, inMaintenance } from "./support/talos.ts";

jest.setTimeout(240_000);

/** What a client gets from a node that requires its certificate: the alert, or the end of the connection if that is faster. */
const wantsCertificate = /tls: certificate required|broken pipe|connection reset by peer/;

/** Where the two Talos versions differ. */
const versions = [
  {
    talos: "1.12.6",
    version: "rpc error: code = Unimplemented desc = API is not implemented in maintenance mode",
    unknownKey: "rpc error: code = Unknown desc = failed to parse config: error decoding document /v1alpha1/ (line 1)",
    notAConfig: "rpc error: code = Unknown desc = failed to parse config",
    invalid: "rpc error: code = InvalidArgument desc = configuration validation failed: 1 error occurred:",
    modes: {
      "no-reboot": { code: 1, words: notSupported("no-reboot") },
      staged: { code: 1, words: notSupported("staged") },
    },
    bootstrapOnWorker:
      "rpc error: code = FailedPrecondition desc = bootstrap can only be performed on a control plane node",
  },
  {
    talos: "1.13.8",
    version: undefined,
    unknownKey: "rpc error: code = InvalidArgument desc = error decoding document /v1alpha1/ (line 1)",
    notAConfig: "rpc error: code = InvalidArgument desc =",
    invalid: "rpc error: code = InvalidArgument desc = 1 error occurred:",
    modes: {
      "no-reboot": { code: 0, words: "Applied configuration without a reboot (skipped in dry-run)." },
      staged: { code: 0, words: "Staged configuration to be applied after the next reboot (skipped in dry-run)." },
    },
    bootstrapOnWorker: "rpc error: code = Unimplemented desc = bootstrap is only available on control plane nodes",
  },
] as const;

describe.each(versions)("talosctl and a Talos $talos node in maintenance", (expected) => {
  let lab: Lab;
  let cluster: Cluster;
  beforeAll(async () => {
    lab = await Lab.up();
    cluster = await Cluster.servers(lab, { talos: expected.talos, controlPlanes: 1, workers: 1 });
  });
  afterAll(() => lab?.down());

  const stage = async () => {
    const format = ["--output", "jsonpath={.spec.stage}"];
    return (await cluster.insecure(cluster.first, "get", "machinestatus", ...format)).stdout.trim();
  };

  test("lists the node's disks, which are not the host's", async () => {
    const { code, stdout } = await cluster.insecure(cluster.first, "get", "disks", "--output", "yaml");
    expect(code).toBe(0);
    const disks = parseAllDocuments(stdout).map((document) => document.toJS());
    expect(disks.map(({ metadata }) => metadata.id)).toContain("sda");
  });

  test("shows its version only if that Talos does so", async () => {
    const { code, stdout, stderr } = await cluster.insecure(cluster.first, "version");
    if (expected.version !== undefined)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(expected.version) });
    else
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`Tag:         v${expected.talos}`) });
  });

  test("shows the stage", async () => {
    expect(await stage()).toBe("maintenance");
  });

  test("hides secrets from clients without a certificate, and reports what does not exist", async () => {
    const config = await cluster.insecure(cluster.first, "get", "machineconfig");
    expect(config).toMatchObject({ code: 1, stderr: expect.stringContaining("code = PermissionDenied") });
    const strange = await cluster.insecure(cluster.first, "get", "foobar");
    expect(strange).toMatchObject({ code: 1, stderr: expect.stringContaining('resource "foobar" is not registered') });
  });

  test("does not treat the node as one with our certificates", async () => {
    const { code, stderr } = await cluster.talosctl(cluster.first, ["version"]);
    expect(code).toBe(1);
    expect(stderr).toContain("x509: certificate signed by unknown authority");
  });

  test("is refused with a wrong fingerprint", async () => {
    const fingerprint = Buffer.alloc(32, 1).toString("base64");
    const args = ["apply-config", "--file", cluster.configOf(cluster.first), "--cert-fingerprint", fingerprint];
    const { code, stderr } = await cluster.insecure(cluster.first, ...args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("leaf peer certificate doesn't match the provided fingerprints"),
    });
  });

  test.each([
    [
      "an unknown key",
      { machine: { netwrok: {} } },
      () => [expected.unknownKey, "unknown keys found during decoding:", "netwrok"],
    ],
    ["no config at all", { a: 1 }, () => [expected.notAConfig]],
    [
      "rules that are broken",
      { machine: { network: { interfaces: [{ addresses: ["10.0.0.0/8"] }] } } },
      () => [expected.invalid, "v1alpha1.Config: 1 error occurred:"],
    ],
  ])("cannot apply a config with %s, in Talos' words", async (name, change, words) => {
    const file = lab.write("bad.yaml", name === "no config at all" ? stringify(change) : changed(cluster, change));
    const { code, stderr } = await cluster.insecure(cluster.first, "apply-config", "--file", file);
    expect(code).toBe(1);
    for (const word of words()) expect(stderr).toContain(word);
    expect(await stage()).toBe("maintenance");
  });

  test.each(["no-reboot", "staged"] as const)("gets Talos' answer to the mode %s in maintenance", async (mode) => {
    const args = ["apply-config", "--file", cluster.configOf(cluster.first), "--mode", mode, "--dry-run"];
    const { code, stderr } = await cluster.insecure(cluster.first, ...args);
    const { code: wanted, words } = expected.modes[mode];
    expect({ code, stderr }).toEqual({ code: wanted, stderr: expect.stringContaining(words) });
  });

  test("can dry-run a config, and nothing is changed", async () => {
    const args = ["apply-config", "--file", cluster.configOf(cluster.first), "--dry-run"];
    expect(await cluster.insecure(cluster.first, ...args)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Dry run summary:"),
    });
    expect(lab.facts.all.filter(({ what }) => what === "config")).toEqual([]);
  });

  test("applies good configs: the nodes boot, and require a certificate from then on", async () => {
    for (const node of cluster.nodes) await cluster.apply(node);
    for (const node of cluster.nodes) {
      await lab.until({ subject: node.name, what: "api", value: "apid" });
      const { code, stderr } = await cluster.insecure(node, "version");
      expect(code).toBe(1);
      expect(stderr).toMatch(wantsCertificate);
    }
  });

  test("cannot get from a worker what only a control plane has", async () => {
    const asked = async (...args: readonly string[]) =>
      (await cluster.talosctl(cluster.worker, args, cluster.worker)).stderr;
    expect(await asked("bootstrap")).toContain(expected.bootstrapOnWorker);
    expect(await asked("kubeconfig", join(lab.files, "of-a-worker"))).toContain(
      "rpc error: code = Unimplemented desc = kubeconfig is only available on control plane nodes",
    );
    expect(await asked("etcd", "members")).toContain("rpc error: code = Unimplemented desc = member list");
  });

  test("cannot reach another node through a worker", async () => {
    const { code, stderr } = await cluster.talosctl(cluster.first, ["version"], cluster.worker);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no request forwarding") });
  });
});

describe.each(["1.12.6", "1.13.8"])(
  "talosctl and a cluster of three control planes and three workers on Talos %s",
  (talos) => {
    let lab: Lab;
    let cluster: Cluster;
    beforeAll(async () => {
      lab = await Lab.up();
      cluster = await Cluster.servers(lab, { talos, controlPlanes: 3, workers: 3 });
      await cluster.applyAll();
      await cluster.waiting();
    });
    afterAll(() => lab?.down());

    test("watches a control plane, which stays in booting until it is bootstrapped", async () => {
      const watch = cluster.watch(cluster.first, "get", "machinestatus", "--watch");
      await watch.says(/\bbooting\b/);
      const services = await cluster.said(cluster.first, "services");
      expect(services).toMatch(/ etcd +Preparing +\? /);
      expect(services).toMatch(/ apid +Running +OK /);
      await cluster.bootstrap();
      await watch.says(/\brunning +true\b/);
      await watch.stop();
    });

    test("gets an error for a second bootstrap", async () => {
      const { code, stderr } = await cluster.talosctl(cluster.first, ["bootstrap"]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining("rpc error: code = AlreadyExists desc = etcd data directory is not empty"),
      });
    });

    test("lists every control plane as an etcd member, and no learner", async () => {
      await Promise.all(
        cluster.controlPlanes.map(({ name }) => lab.until({ subject: name, what: "etcd", value: "member" })),
      );
      const rows = table(await cluster.said(cluster.first, "etcd", "members"));
      expect(rows.map(({ HOSTNAME }) => HOSTNAME).sort()).toEqual(cluster.controlPlanes.map(({ name }) => name));
      expect(rows.map(({ LEARNER }) => LEARNER)).toEqual(["false", "false", "false"]);
      const status = table(await cluster.said(cluster.first, "etcd", "status"));
      expect(status).toHaveLength(1);
    });

    test("finds the cluster healthy, to its last check", async () => {
      const nodes = (servers: readonly Server[]) => servers.map(({ address }) => address).join(",");
      const { code, stderr } = await cluster.talosctl(cluster.first, [
        ...["health", "--wait-timeout", "2m"],
        ...["--control-plane-nodes", nodes(cluster.controlPlanes), "--worker-nodes", nodes(cluster.workers)],
      ]);
      const checks = [...stderr.matchAll(/^waiting for (.+?): (OK|SKIP)$/gm)].map(([, check]) => check);
      expect({ code, last: checks.at(-1) }).toEqual({ code: 0, last: "all k8s nodes to report schedulable" });
      expect(checks).toEqual(expect.arrayContaining(["etcd to be healthy", "all nodes to finish boot sequence"]));
    });

    test("writes a kubeconfig that works", async () => {
      await cluster.fetchKubeconfig();
      const names = await cluster.kubectl("get", "nodes", "--output", "name");
      expect(names.trim().split("\n").sort()).toEqual(cluster.nodes.map(({ name }) => `node/${name}`).sort());
    });

    test("lists services, and the members of the cluster", async () => {
      const services = table(await cluster.said(cluster.worker, "services"));
      expect(services.filter(({ STATE }) => STATE !== "Running" && STATE !== "Finished")).toEqual([]);
      expect(services.map(({ SERVICE }) => SERVICE)).toEqual(
        expect.arrayContaining(["apid", "containerd", "cri", "kubelet"]),
      );
      const members = table(await cluster.said(cluster.first, "get", "members"));
      expect(members.map(({ ID }) => ID).sort()).toEqual(cluster.nodes.map(({ name }) => name).sort());
    });

    test("calls several nodes at once, with each answer under its node", async () => {
      const nodes = [cluster.first, cluster.worker].map(({ address }) => address);
      const said = await lab.said("talosctl", [
        ...[
          "--talosconfig",
          cluster.talosconfig,
          "--endpoints",
          cluster.first.address,
          "--nodes",
          nodes.join(","),
          "version",
        ],
      ]);
      const answers = [...said.matchAll(/NODE: +(\S+)\n\tTag: +(\S+)\n/g)].map(([, node, tag]) => [node, tag]);
      expect(answers.sort()).toEqual(nodes.map((node) => [node, `v${talos}`]).sort());
    });

    test("applies the same config again without an effect, and a config that needs a reboot with a reboot", async () => {
      const same = await cluster.talosctl(cluster.worker, ["apply-config", "--file", cluster.configOf(cluster.worker)]);
      expect(same).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("Applied configuration without a reboot"),
      });
      const file = lab.write("reboot.yaml", changed(cluster, { machine: { udev: { rules: ["a"] } } }, cluster.worker));
      const refused = await cluster.talosctl(cluster.worker, ["apply-config", "--file", file, "--mode", "no-reboot"]);
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("this config change can't be applied in immediate mode"),
      });
      const before = lab.facts.all.at(-1);
      const applied = await cluster.talosctl(cluster.worker, ["apply-config", "--file", file]);
      expect(applied).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("Applied configuration with a reboot"),
      });
      await lab.until({ subject: cluster.worker.name, what: "stage", value: "rebooting", after: before });
      await lab.until({ subject: cluster.worker.name, what: "stage", value: "running", after: before });
    });

    test("saves an etcd snapshot, whose checksum it verifies", async () => {
      const file = join(lab.files, "etcd.snapshot");
      const said = await cluster.said(cluster.first, "etcd", "snapshot", file);
      expect(said).toContain(`etcd snapshot saved to "${file}"`);
      expect(said).toMatch(/snapshot info: hash [0-9a-f]+, revision [1-9]\d*, total keys [1-9]\d*, total size \d+/);
      expect(statSync(file).size).toBeGreaterThan(100_000);
    });

    test("reboots a node and waits until it is back", async () => {
      const before = lab.facts.all.at(-1);
      const { code, stderr } = await cluster.talosctl(cluster.worker, ["reboot", "--wait", "--timeout", "2m"]);
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      await lab.until({ subject: cluster.worker.name, what: "stage", value: "running", after: before });
    });

    test("upgrades a node to the Talos and the schematic of the installer", async () => {
      const [node] = cluster.workers.slice(-1);
      if (node === undefined) throw new Error("no worker");
      const image = `192.0.2.20/hcloud-installer/${emptySchematic}:v1.13.8`;
      const args = ["upgrade", "--image", image, "--drain=false", "--timeout", "2m"];
      await cluster.said(node, ...args);
      expect(await cluster.said(node, "version")).toContain("Tag:         v1.13.8");
    });

    // talosctl would wait for an event of the node that is on its way out, and without end if that does not arrive in time.
    const reset = ["reset", "--reboot", "--wait=false", "--system-labels-to-wipe", "STATE,EPHEMERAL"];

    test("resets a node, which is then in maintenance", async () => {
      const before = lab.facts.all.at(-1);
      await cluster.said(cluster.worker, ...reset, "--graceful=false");
      await inMaintenance(lab, cluster.worker.name, before);
    });

    test("resets a control plane, which leaves etcd first", async () => {
      const [node] = cluster.controlPlanes.slice(-1);
      if (node === undefined) throw new Error("no control plane");
      const before = lab.facts.all.at(-1);
      await cluster.said(node, ...reset);
      await inMaintenance(lab, node.name, before);
      const rows = table(await cluster.said(cluster.first, "etcd", "members"));
      expect(rows.map(({ HOSTNAME }) => HOSTNAME)).not.toContain(node.name);
      expect(rows).toHaveLength(2);
    });

    test("S7.4 recovers etcd from a snapshot once all control planes have lost their data", async () => {
      const before = lab.facts.all.at(-1);
      const left = cluster.controlPlanes.slice(0, 2);
      const wipe = ["reset", "--reboot", "--wait=false", "--graceful=false", "--system-labels-to-wipe", "EPHEMERAL"];
      for (const node of left.toReversed()) await cluster.said(node, ...wipe);
      const waits = { what: "service", value: "Preparing", detail: { id: "etcd" }, after: before };
      await Promise.all(left.map(({ name }) => lab.until({ ...waits, subject: name })));
      const said = await cluster.said(cluster.first, "bootstrap", "--recover-from", join(lab.files, "etcd.snapshot"));
      expect(said).toMatch(
        /^recovering from snapshot .*: hash [0-9a-f]{8}, revision \d+, total keys \d+, total size \d+$/m,
      );
      await lab.until({ subject: cluster.first.name, what: "etcd", value: "recovered", after: before });
      await Promise.all(
        left.map(({ name }) => lab.until({ subject: name, what: "etcd", value: "member", after: before })),
      );
      expect(table(await cluster.said(cluster.first, "etcd", "members"))).toHaveLength(2);
      await lab.until({ subject: cluster.first.name, what: "kubelet", value: "registered", after: before });
      const names = await cluster.kubectl("get", "nodes", "--output", "name");
      expect(names.trim().split("\n").sort()).toEqual(cluster.nodes.map(({ name }) => `node/${name}`).sort());
    });
  },
);

function notSupported(mode: string): string {
  return `rpc error: code = Unimplemented desc = apply configuration --mode='${mode}' is not supported in maintenance mode`;
}

/** A node's machine config with something changed in its first document. */
function changed(cluster: Cluster, change: object, node = cluster.first): string {
  const [first, ...others] = parseAllDocuments(readFileSync(cluster.configOf(node), "utf8"));
  const merged = merge(first?.toJS(), change);
  return [stringify(merged), ...others.map(String)].join("---\n");
}

function merge(into: Record<string, unknown>, change: object): Record<string, unknown> {
  const merged = { ...into };
  for (const [key, value] of Object.entries(change)) {
    const isTree = typeof value === "object" && value !== null && !Array.isArray(value);
    merged[key] = isTree ? merge((into[key] ?? {}) as Record<string, unknown>, value) : value;
  }
  return merged;
}

/** The rows of talosctl's columns, by their heads; a column ends where the next head starts. */
function table(text: string): Record<string, string>[] {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map((match) => ({ name: match[0], at: match.index }));
  return lines.map((line) =>
    Object.fromEntries(starts.map(({ name, at }, index) => [name, line.slice(at, starts[index + 1]?.at).trim()])),
  );
}
