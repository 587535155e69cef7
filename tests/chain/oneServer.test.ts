// The complete chain for one server: from a snapshot to a cluster that Flux reconciles, its outputs, what later runs do to it
// (nothing), and how it is destroyed.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { root } from "../../scripts/base/paths.ts";
import { Chain, type Run } from "../lab/support/chain.ts";
import { gates } from "../lab/support/gates.ts";
import { writes } from "../lab/support/writes.ts";
import { blockCommands } from "../support/docs.ts";
import { secretsBundle, secretsPath, secretsText } from "../support/secretsFixture.ts";

jest.setTimeout(300_000);

const node = "test-cp-1";

describe("one server", () => {
  let chain: Chain;
  let up: Promise<Run>;
  let address: string;
  let held: string;
  /** What was sealed in the repository, decrypted. */
  let sealed: string;
  // biome-ignore lint/suspicious/noExplicitAny: the stack's outputs, before it was destroyed
  let was: any;
  beforeAll(async () => {
    chain = await Chain.of({ secrets: { machineSecrets: secretsText } });
    held = await chain.lab.fault({ on: "talos", name: "ApplyConfiguration", do: "hold" });
    up = chain.up();
    up.catch(() => undefined); // reported by the tests that wait for it
  });
  afterAll(() => chain?.down());

  const head = async () =>
    (await chain.lab.said("git", ["ls-remote", "http://192.0.2.30/sample.git", "main"])).split("\t")[0];

  test("from a snapshot answers on the Talos API without a client certificate (S0.3(1))", async () => {
    await chain.lab.until({ subject: node, what: "fault", value: "hold" });
    const { servers } = await chain.cloud.call("GET", `/servers?name=${node}`);
    address = servers[0].public_net.ipv4.ip;
    const disks = await chain.lab.said("talosctl", ["get", "disks", "--insecure", "--nodes", address]);
    expect(disks).toContain("QEMU HARDDISK");
    expect(chain.lab.facts.all).not.toContainEqual(expect.objectContaining({ what: "config" }));
  });

  test("gets its config without an install, because Talos is already on its disk (S0.2; S0.3(2))", async () => {
    await chain.lab.endFault(held);
    const applied = await chain.lab.until({ subject: node, what: "config", value: "applied" });
    await chain.lab.until({ subject: node, what: "stage", value: "booting", after: applied });
    expect(chain.lab.facts.all).not.toContainEqual(expect.objectContaining({ what: "installed" }));
  });

  test("becomes a cluster of one node that Flux reconciles (S0.3(4); S3.1, S4.7) [C26]", async () => {
    await up;
    expect(await chain.kubectl("get", "nodes", "--output", "name")).toBe("node/cp-1\n");
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];
    sealed = await chain.kubectl(...greeting);
    expect(sealed).not.toBe("");
  });

  test("answers with the certificate of this cluster, and no longer without one (S0.2; S0.3(3))", async () => {
    expect(await chain.talosctl("version", "--short")).toContain("v1.13.8");
    const without = await chain.lab.exec("talosctl", ["get", "disks", "--insecure", "--nodes", address]);
    expect(without).not.toMatchObject({ code: 0 });
  });

  test("is the cluster of the machine secrets that its file declares: the talosconfig that talosctl makes from them is accepted (S7.1)", async () => {
    const file = join(chain.lab.files, "from-secrets");
    const made = ["gen", "config", "test", `https://${address}:6443`, "--with-secrets", secretsPath, "--output", file];
    await chain.lab.said("talosctl", [...made, "--output-types", "talosconfig"]);
    const ask = ["--talosconfig", file, "--endpoints", address, "--nodes", address, "version", "--short"];
    expect(await chain.lab.said("talosctl", ask)).toContain("v1.13.8");
    const { kubeconfig } = await chain.outputs();
    const [{ cluster }] = parse(kubeconfig).clusters;
    expect(cluster["certificate-authority-data"]).toBe(secretsBundle.certs.k8s.crt);
  });

  test("is healthy for talosctl with the talosconfig of the outputs", async () => {
    await chain.talosctl("health", "--wait-timeout", "1m");
  });

  test("passed every gate, each with its evidence and how long it took (S3.2) [C27]", async () => {
    const { gates: reports } = await chain.outputs();
    expect(Object.keys(reports).sort()).toEqual(gates.toSorted());
    for (const { evidence, waited } of Object.values<{ evidence: object; waited: number }>(reports)) {
      expect(Object.keys(evidence)).not.toEqual([]);
      expect(waited).toBeGreaterThanOrEqual(0);
    }
    const sealing = readFileSync(join(root, "lab", "sample", "sealing-certificate.pem"), "utf8");
    expect(reports).toMatchObject({
      Etcd: { evidence: { members: ["cp-1"], alarms: 0 } },
      NodesReady: { evidence: { kubelets: { "cp-1": "v1.36.4" } } },
      SealedSecretsReady: { evidence: { certificate: new X509Certificate(sealing).fingerprint256 } },
    });
  });

  test("started each stage after the gate before it had opened (S3.3) [C3]", async () => {
    const { steps } = await up;
    const ofType = (type: string) => steps.filter((step) => step.type.endsWith(type));
    // Flux waits for both CSI and sealed-secrets, which are installed side by side.
    for (const other of ["CsiReady", "SealedSecretsReady"]) {
      const [first, ...others] = gates
        .filter((gate) => gate !== other)
        .map((gate) => ofType(`dynamic/gates:${gate}`)[0]);
      let before = first;
      for (const gate of others) {
        expect(gate?.began).toBeGreaterThan(before?.ended ?? Number.NaN);
        before = gate;
      }
    }
    const behind = {
      ":AppliedMachineConfig": "Preflight",
      ":Bootstrap": "Stages",
      "talos:cluster/kubeconfig:Kubeconfig": "TalosServices",
      ":Cilium": "NodesJoined",
      ":HcloudCloudControllerManager": "CiliumReady",
      ":HcloudCsi": "NodesReady",
      ":SealedSecrets": "NodesReady",
      ":Flux": "SealedSecretsReady",
      ":StableGates": "GitOpsReady",
    };
    for (const [stage, gate] of Object.entries(behind)) {
      expect(ofType(stage)[0]?.began).toBeGreaterThan(ofType(`dynamic/gates:${gate}`)[0]?.ended ?? Number.NaN);
    }
  });

  test("has its endpoint, its credentials and their remaining days in the outputs [C20]", async () => {
    const { endpoint, nodes, talosconfig, clientCertificateDaysLeft } = await chain.outputs();
    expect(endpoint).toBe(`https://${address}:6443`);
    expect(nodes).toEqual({ "cp-1": { role: "controlplane", address: "10.0.1.11", reach: address } });
    const [{ crt }] = Object.values<{ crt: string }>(parse(talosconfig).contexts) as [{ crt: string }];
    const { validTo } = new X509Certificate(Buffer.from(crt, "base64"));
    expect(clientCertificateDaysLeft).toBe(Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000));
  });

  test("has the newest commit of the repository, which is an output (S3.2) [C26]", async () => {
    const { gitOpsRevision } = await chain.outputs();
    expect(gitOpsRevision).toBe(`main@sha1:${await head()}`);
  });

  test("is not written to by a second up, nor is the cloud or Kubernetes (S1.6)", async () => {
    const written = await writes(chain, async () => {
      const again = await chain.run("up", "--expect-no-changes");
      expect(again).toMatchObject({ code: 0, steps: [] });
    });
    expect(written).toEqual([]);
  });

  test("has no drift, and is not written to by the refresh that finds that (U3)", async () => {
    const written = await writes(chain, async () => {
      expect(await chain.run("refresh", "--expect-no-changes")).toMatchObject({ code: 0, steps: [] });
    });
    expect(written).toEqual([]);
  });

  test("gets a change in git from Flux, and the next refresh shows the commit, which is no drift", async () => {
    const before = await head();
    const commands = [
      "git clone --quiet http://192.0.2.30/sample.git sample",
      "cd sample",
      "sed -i 's/replicas: 2/replicas: 3/' apps/hello/deployment.yaml",
      "git -c user.name=me -c user.email=me@example.com commit --quiet --all --message 'One more'",
      "git push --quiet",
    ];
    await chain.lab.said("sh", ["-c", commands.join(" && ")]);
    const revision = `main@sha1:${await head()}`;
    expect(revision).not.toContain(before);
    for (const name of ["flux-system", "apps", "secrets"]) {
      const detail = { name: `flux-system/${name}`, revision };
      await chain.lab.until({ subject: "flux", what: "kustomization", value: "ready", detail });
    }
    const replicas = ["--namespace", "hello", "get", "deployment", "hello", "--output", "jsonpath={.spec.replicas}"];
    expect(await chain.kubectl(...replicas)).toBe("3");

    const refresh = await chain.run("refresh", "--expect-no-changes");
    expect(refresh).toMatchObject({ code: 0, steps: [] });
    expect(refresh.stdout).toContain(revision);
    const gate = (await chain.resources()).find(({ type }) => type.endsWith(":GitOpsReady"));
    expect(gate?.outputs).toMatchObject({ evidence: { revisions: { "flux-system": revision } } });
  });

  test("exports its sealing key and decrypts what a user sealed, with the commands of docs/migrate.md and docs/platform.md (S4.7)", async () => {
    const word = ["create", "secret", "generic", "mine", "--from-literal=word=hello", "--dry-run=client"];
    chain.lab.write("secret.yaml", await chain.kubectl(...word, "--output", "yaml"));
    const env = { KUBECONFIG: join(chain.lab.files, "kubeconfig") };
    const typed = (line: string) => chain.lab.said("bash", ["-e", "-o", "pipefail", "-c", line], { env });
    const [newest = "", ...parts] = blockCommands("docs/migrate.md").filter((line) => line.startsWith("kubectl "));
    const name = (await typed(newest)).trim().replace("secret/", "");
    for (const line of parts) await typed(line.replace("<name>", name));
    const sealing = readFileSync(join(root, "lab", "sample", "sealing-certificate.pem"), "utf8");
    expect(readFileSync(join(chain.lab.files, "tls.crt"), "utf8").trim()).toBe(sealing.trim());
    expect(readFileSync(join(chain.lab.files, "tls.key"), "utf8")).toMatch(/^-----BEGIN .*PRIVATE KEY-----\n/);

    for (const line of blockCommands("docs/platform.md").filter((line) => line.startsWith("kubeseal "))) {
      await typed(line);
    }
    await chain.kubectl("apply", "--filename", join(chain.lab.files, "sealed.yaml"));
    await chain.kubectl("wait", "secret", "mine", "--for=create", "--timeout=30s");
    const data = ["get", "secret", "mine", "--output", "jsonpath={.data.word}"];
    expect(Buffer.from(await chain.kubectl(...data), "base64").toString()).toBe("hello");
  });

  test("has changes by hand in the cloud reverted, and nothing else is touched (U3)", async () => {
    const { servers } = await chain.cloud.call("GET", `/servers?name=${node}`);
    await chain.cloud.call("PUT", `/servers/${servers[0].id}`, { labels: { strange: "yes" } });
    const found = await chain.run("refresh");
    expect(found.steps).toMatchObject([{ op: "update", type: "hcloud:index/server:Server", name: node }]);
    const fixed = await chain.up();
    expect(fixed.steps).toMatchObject([{ op: "update", type: "hcloud:index/server:Server", name: node }]);
    expect(await chain.cloud.call("GET", `/servers?name=${node}`)).toMatchObject({
      servers: [{ labels: servers[0].labels }],
    });
    // What refreshes have observed since is in the outputs now.
    expect(await chain.outputs()).toMatchObject({ gitOpsRevision: `main@sha1:${await head()}` });
  });

  test("is destroyed in less than 30 s, and leaves nothing in the cloud", async () => {
    expect(await chain.cloud.left()).toContain(`servers ${node}`);
    was = await chain.outputs();
    const destroy = await chain.run("destroy");
    expect(destroy).toMatchObject({ code: 0 });
    expect(destroy.seconds).toBeLessThan(30);
    expect(await chain.resources()).toEqual([]);
    expect(await chain.cloud.left()).toEqual([]);
  });

  test("comes back with the same names and addresses, and decrypts what was sealed before (S4.7)", async () => {
    await chain.up();
    const { nodes, schematicId, kubeconfig } = await chain.outputs();
    const known = (all: Record<string, { role: string; address: string }>) =>
      Object.entries(all).map(([name, { role, address }]) => ({ name, role, address }));
    expect(known(nodes)).toEqual(known(was.nodes));
    expect(schematicId).toBe(was.schematicId);
    // Nothing is left that knows the old keys.
    expect(kubeconfig).not.toBe(was.kubeconfig);
    const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];
    expect(await chain.kubectl(...greeting)).toBe(sealed);
  });
});
