// A cluster that talosctl and Helm have made, and Sluice takes over: nothing is written to a node, and nothing restarts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { talosValues } from "../../components/platform/cilium.ts";
import { fluxChart } from "../../components/platform/flux.ts";
import { fingerprint, sealedSecretsChart, sealedSecretsController } from "../../components/platform/sealedSecrets.ts";
import { root } from "../../scripts/base/paths.ts";
import type { Ended } from "../../scripts/base/run.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { BenchLab } from "../lab/support/benchLab.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { ForeignCluster } from "../lab/support/foreignCluster.ts";
import { emptySchematic } from "../lab/support/lab.ts";
import { Workbench } from "../support/cli.ts";
import { Secrets } from "../support/leaks.ts";
import { secretsPath } from "../support/secretsFixture.ts";

jest.setTimeout(600_000);

const bench = new Workbench({ fresh: false });
const lab = new BenchLab(bench, "adopt");
const hostname = (name: string) => ({ apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname: name });
const theirs = new ForeignCluster(
  { said: (name, ...args) => lab.said(name, ...args) },
  {
    name: "test",
    folder: join(bench.folder, "theirs"),
    endpoint: "10.0.0.11",
    installer: `factory.talos.dev/metal-installer/${emptySchematic}:v1.13.8`,
    nodes: [
      { name: "cp-1", role: "controlplane", address: "10.0.0.11", patches: [hostname("cp-1")] },
      {
        name: "w-1",
        role: "worker",
        address: "10.0.0.21",
        patches: [hostname("w-1"), { machine: { nodeLabels: { disk: "fast" } } }],
      },
    ],
    patches: [{ machine: { sysctls: { "vm.swappiness": "10" } } }],
    controlPlanePatches: [{ cluster: { network: { cni: { name: "none" } }, proxy: { disabled: true } } }],
  },
);
const timeout = 400_000;
const secrets = new Secrets();
/** As a user writes it who knows only the machines. */
const first: Readonly<Record<string, unknown>> = {
  ...environment({ platform: "existing", workers: 1 }),
  charts: { path: labCharts },
  lab: { name: "adopt" },
};
let name: string;

const settingsOf = (config: object) =>
  stringify({ config: Object.fromEntries(Object.entries(config).map(([key, value]) => [`sluice:${key}`, value])) });
const said = ({ code, stdout, stderr }: Ended) => (code === 0 ? "" : `${stdout}${stderr}`);
/** What was done to nodes since a moment: calls that change something, stages, and pods that end or start. */
const effects = (from: number) =>
  lab.facts.all
    .slice(from)
    .filter(({ what }) => ["call", "config", "stage", "pod", "bootstrap", "install"].includes(what))
    .map(({ subject, what, value, detail }) => `${subject} ${what} ${value} ${JSON.stringify(detail ?? {})}`)
    .filter((line) => !/sluice-(datapath|volume)-probe/.test(line));

/** The patches that the command prints. */
function suggested(stdout: string): unknown {
  const [, text = ""] = /^For sluice:patches in .*\n((?: .*\n)+)/m.exec(stdout) ?? [];
  return parse(text);
}

describe("a cluster of talosctl and Helm on existing machines (S7.2)", () => {
  beforeAll(async () => {
    name = bench.addSettings("adopt", settingsOf(first));
    await lab.start();
    for (const node of ["cp-1", "w-1"]) {
      await lab.facts.until({ subject: `test-${node}`, what: "stage", value: "maintenance" }, 120_000);
    }
    await theirs.create();
    await lab.facts.until(
      { subject: "test-cp-1", what: "service", value: "Preparing", detail: { id: "etcd" } },
      120_000,
    );
    await theirs.bootstrap();
    for (const node of ["cp-1", "w-1"]) {
      await lab.facts.until({ subject: `test-${node}`, what: "kubelet", value: "registered" }, 120_000);
    }
    await theirs.fetchKubeconfig();
    await install();
    const { certs, ...rest } = parse(theirs.read("secrets.yaml"));
    secrets.addTree("machineSecrets", rest);
    for (const [title, { key }] of Object.entries<{ key: string }>(certs)) secrets.addTree(`the key of ${title}`, key);
  });
  afterAll(async () => {
    await lab.down();
    bench.remove();
  });

  /** What runs in it, as others have installed it. */
  async function install(): Promise<void> {
    const sample = join(root, "lab", "sample");
    const chart = (one: string) => join(root, labCharts, one);
    const certificate = readFileSync(join(sample, "sealing-certificate.pem"), "utf8").trimEnd();
    await theirs.kubectl("apply", "--filename", join(sample, "sealing-key.yaml"));
    await theirs.helm("cilium", chart("cilium"), "kube-system", talosValues(2));
    await theirs.helm("sealed-secrets", chart(sealedSecretsChart.name), sealedSecretsChart.namespace, {
      fullnameOverride: sealedSecretsController,
      keyrenewperiod: "0",
      podAnnotations: { "checksum/sealing-key": fingerprint({ certificate, key: "" }) },
    });
    await theirs.helm(fluxChart.release, chart(fluxChart.name), fluxChart.namespace, {
      ...Object.fromEntries(
        ["imageAutomationController", "imageReflectionController", "sourceWatcher"].map((one) => [
          one,
          { create: false },
        ]),
      ),
      crds: { annotations: { "helm.sh/resource-policy": "keep" } },
    });
    await theirs.kubectl(
      "wait",
      "--namespace",
      "kube-system",
      "deployment",
      "--all",
      "--for=condition=Available",
      "--timeout=60s",
    );
    await theirs.kubectl(
      "wait",
      "--namespace",
      "flux-system",
      "deployment",
      "--all",
      "--for=condition=Available",
      "--timeout=60s",
    );
  }

  test("is not adopted without its machine secrets, and nothing is called", async () => {
    const from = lab.facts.all.length;
    const refused = await bench.npm("adopt", name);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(
      `${name} has no machine secrets, and without those of the cluster nothing is done`,
    );
    expect(effects(from)).toEqual([]);
  });

  test("is not adopted with those of another cluster, and nothing is written to it", async () => {
    const from = lab.facts.all.length;
    const other = bench.addSettings("adopt-other", settingsOf(first));
    expect(said(await bench.npm("secrets", "import", other, "--file", secretsPath))).toBe("");
    const refused = await bench.npm("adopt", other);
    expect(refused.code).toBe(2);
    expect(refused.stdout).toMatch(
      /cp-1: its certificate is not of our PKI .*\n {4}what to do: import the machine secrets/,
    );
    expect(refused.stdout).toMatch(/\nNothing was adopted\.\n$/);
    expect(effects(from)).toEqual([]);
  });

  test("is compared, and each difference is listed with the key or the patch that removes it", async () => {
    const from = lab.facts.all.length;
    expect(said(await bench.npm("secrets", "import", name, "--file", theirs.secrets))).toBe("");
    const compared = await bench.npm("adopt", name);
    expect(compared).toMatchObject({ code: 2, stderr: expect.not.stringContaining("Error") });
    expect(compared.stdout).toContain("w-1: - machine.nodeLabels.disk: fast\n    to keep it: use nodes[].labels\n");
    expect(compared.stdout).toContain(
      'cp-1, w-1: - machine.sysctls."vm.swappiness": 10\n    to keep it: the patches below\n',
    );
    expect(compared.stdout).not.toContain("no key and no patch does");
    expect(effects(from)).toEqual([]);
    const nodes = first.nodes as readonly { readonly name: string }[];
    bench.editEnvironment(name, {
      patches: suggested(compared.stdout),
      nodes: nodes.map((node) => (node.name === "w-1" ? { ...node, labels: { disk: "fast" } } : node)),
      machine: {
        kubelet: { featureGates: {} },
        apiServer: { featureGates: {}, aggregatorRouting: false },
        hostDNS: { resolveMemberNames: false },
      },
    });
  });

  test("is drafted into an environment's file, which is adopted as it is", async () => {
    const from = lab.facts.all.length;
    const drafted = bench.newName("adopt-draft");
    const draft = ["--draft", "--secrets", theirs.secrets, "--node", "10.0.0.11", "--lab", "adopt"];
    expect(said(await bench.npm("adopt", drafted, ...draft))).toBe("");
    expect((await bench.npm("adopt", drafted, ...draft)).stderr).toContain("exists, and is never overwritten");
    expect(said(await bench.npm("secrets", "import", drafted, "--file", theirs.secrets))).toBe("");
    const adopted = await bench.npmWith({ timeout }, "adopt", drafted);
    expect(said(adopted)).toBe("");
    expect(adopted.stdout).toContain("2 nodes, 0 obstacles, 0 differences");
    expect(effects(from)).toEqual([]);
  });

  test("is adopted once nothing differs, without a write", async () => {
    const from = lab.facts.all.length;
    const adopted = await bench.npmWith({ timeout }, "adopt", name);
    expect(said(adopted)).toBe("");
    expect(adopted.stdout).toContain("2 nodes, 0 obstacles, 0 differences");
    for (const release of ["kube-system/cilium", "kube-system/sealed-secrets", "flux-system/flux"]) {
      expect(adopted.stdout).toContain(`  Helm release ${release}\n`);
    }
    expect(effects(from)).toEqual([]);
    const { stdout } = await bench.npm("preview", name);
    expect(stdout).not.toMatch(/^ *[~-] /m);
  });

  test("is deployed by the next up without a write to a node and without a restart", async () => {
    const from = lab.facts.all.length;
    const up = await bench.npmWith({ timeout }, "up", name, "--yes", "--skip-preview");
    expect(said(up)).toBe("");
    expect(up.stdout).toMatch(/^ *GitOpsReady /m);
    expect(effects(from).filter((line) => !/ pod \w+ \{"pod":"hello\//.test(line))).toEqual([]);
    expect(said(await bench.npm("up", name, "--yes", "--skip-preview", "--expect-no-changes"))).toBe("");
    expect(await bench.npm("drift", name)).toMatchObject({ code: 0 });
  });

  test("is not adopted twice", async () => {
    const again = await bench.npm("adopt", name);
    expect(again.stderr).toContain(`${name} is deployed already, and needs no adoption`);
  });

  test("has none of its secrets in anything that was printed, or in the state", async () => {
    expect(secrets.foundIn(bench.said.join("\n"))).toEqual([]);
    expect(secrets.foundIn(readFileSync(bench.stateFile(name), "utf8"))).toEqual([]);
  });
});
