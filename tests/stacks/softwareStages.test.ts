import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { type MockOptions, type RecordedResource, type Recording, record, title } from "../support/mocks.ts";
import { platformMocks } from "../support/platformMocks.ts";
import { proxmoxApiToken } from "../support/proxmoxMocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";

const flux = { url: "https://git.example.org/home.git" };

type State = NonNullable<MockOptions["state"]>;
const made = platformMocks.state as State;
const token = "proxmoxve:user/token:Token";

/** The resources that the engine is asked to create for an environment. */
function deploy(
  base: Base,
  changes: Record<string, unknown> = {},
  { preview = false, state = made }: MockOptions = {},
) {
  const raw = Object.entries(changes).reduce((config, [path, value]) => changed(config, path, value), rawConfig(base));
  const config = parseClusterConfig(raw);
  return record(() => deployCluster(config), {
    ...platformMocks,
    preview,
    state: preview ? ({ inputs }) => inputs : state,
  });
}

const gate = (name: string, resource: string, cluster = "cloud") =>
  `pulumi-nodejs:dynamic/gates:${name} ${cluster}-${resource}`;
const [joined, cilium] = [gate("NodesJoined", "nodes-joined"), gate("CiliumReady", "cilium-ready")];
const [ready, csi] = [gate("NodesReady", "nodes-ready"), gate("CsiReady", "csi-ready")];
const sealed = gate("SealedSecretsReady", "sealed-secrets-ready");
const gitOps = gate("GitOpsReady", "gitops-ready");
const bootstrap = "pulumi-nodejs:dynamic/talos:Bootstrap cloud";

/** Everything that a resource waits for: directly, through its component, and through what these wait for. */
function waitsFor({ resources }: Recording<unknown>, start: string): Set<string> {
  const found = new Set<string>();
  const visit = (name: string | undefined) => {
    const resource = resources.find((one) => title(one) === name);
    for (const next of resource === undefined ? [] : [...resource.dependencies, ...above(resource)]) {
      if (found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(start);
  return found;
}

function above({ parent }: RecordedResource): string[] {
  return parent === undefined ? [] : [parent];
}

const stagesOf = ({ resources }: Recording<unknown>) =>
  resources.filter(({ type }) => type.startsWith("sluice:platform:")).map(({ type }) => type.split(":").at(-1));
const gatesOf = ({ resources }: Recording<unknown>) =>
  resources.flatMap(({ type }) => /gates:(\w+Ready)$/.exec(type)?.[1] ?? []);

const { HCLOUD_TOKEN, PROXMOX_VE_API_TOKEN } = process.env;
beforeEach(() => {
  Object.assign(process.env, { HCLOUD_TOKEN: "the-token", PROXMOX_VE_API_TOKEN: proxmoxApiToken });
});
afterAll(() => {
  for (const [name, value] of Object.entries({ HCLOUD_TOKEN, PROXMOX_VE_API_TOKEN })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

describe("the platform", () => {
  test("S3.1 a cluster at Hetzner has all stages and gates of the software", async () => {
    const recording = await deploy("cloud", { flux });
    expect(stagesOf(recording)).toEqual([
      "Cilium",
      "Flux",
      "HcloudCloudControllerManager",
      "HcloudCsi",
      "HcloudSecret",
      "SealedSecrets",
    ]);
    expect(gatesOf(recording)).toEqual(["CiliumReady", "CsiReady", "GitOpsReady", "NodesReady", "SealedSecretsReady"]);
  });

  test.each([
    [
      "home",
      {},
      ["Cilium", "ProxmoxCsi", "SealedSecrets"],
      ["CiliumReady", "CsiReady", "NodesReady", "SealedSecretsReady"],
    ],
    [
      "home",
      { csi: { enabled: false } },
      ["Cilium", "SealedSecrets"],
      ["CiliumReady", "NodesReady", "SealedSecretsReady"],
    ],
    ["existing", { sealedSecrets: { enabled: false } }, ["Cilium"], ["CiliumReady", "NodesReady"]],
    [
      "existing",
      { sealedSecrets: { enabled: false }, flux },
      ["Cilium", "Flux"],
      ["CiliumReady", "GitOpsReady", "NodesReady"],
    ],
    [
      "cloud",
      { "hetzner.cloudControllerManager": { enabled: false }, csi: { enabled: false } },
      ["Cilium", "SealedSecrets"],
      ["CiliumReady", "NodesReady", "SealedSecretsReady"],
    ],
  ] as const)(
    "S3.1 the environment %s with %j has no stage and no gate that it does not need",
    async (base, changes, stages, gates) => {
      const recording = await deploy(base, changes);
      expect(stagesOf(recording)).toEqual(stages);
      expect(gatesOf(recording)).toEqual(gates);
    },
  );

  test.each([
    ["kubernetes:helm.sh/v3:Release cloud-cilium-release", [joined]],
    ["kubernetes:helm.sh/v3:Release cloud-ccm-release", [cilium]],
    [ready, ["kubernetes:helm.sh/v3:Release cloud-ccm-release"]],
    ["kubernetes:helm.sh/v3:Release cloud-csi-release", [ready, "kubernetes:core/v1:Secret cloud-hcloud-secret"]],
    ["kubernetes:helm.sh/v3:Release cloud-sealed-secrets-release", [cilium, ready]],
    ["kubernetes:helm.sh/v3:Release cloud-flux-controllers", [ready, csi, sealed]],
    [gitOps, ["kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization cloud-flux-root"]],
  ])("S3.3 the resource '%s' waits for what it needs", async (resource, wanted) => {
    const found = waitsFor(await deploy("cloud", { flux }), resource);
    expect(wanted.filter((one) => !found.has(one))).toEqual([]);
  });

  test("S3.3 no stage starts, and nothing calls the cluster, before the gates in front of it", async () => {
    const recording = await deploy("cloud", { flux });
    const inCluster = recording.resources.filter(({ type }) => /^(kubernetes|pulumi:providers:kubernetes)/.test(type));
    expect(inCluster).toHaveLength(10);
    for (const resource of inCluster) expect(waitsFor(recording, title(resource))).toContain(joined);
  });

  test("S3.2 volumes are on the storage of the VM disks, or on the one that the environment sets", async () => {
    const classOf = async (changes: Record<string, unknown>) => {
      const { resources } = await deploy("home", changes);
      const inputs = resources.find(({ name }) => name === "home-csi-release")?.inputs as
        | { values: object }
        | undefined;
      return inputs?.values;
    };
    expect(await classOf({ "proxmox.storage": "nvme" })).toMatchObject({
      storageClass: [{ storage: "nvme", fstype: "ext4", reclaimPolicy: "Delete" }],
    });
    const volumes = { storage: "tank", filesystem: "xfs", reclaimPolicy: "Retain" };
    expect(await classOf({ "proxmox.volumes": volumes })).toMatchObject({
      storageClass: [{ storage: "tank", fstype: "xfs", reclaimPolicy: "Retain" }],
    });
  });

  test("S4.6 Cilium gives Services addresses of the node network and answers for them, if the environment sets that", async () => {
    const cilium = { values: { l2announcements: { leaseDuration: "9s" } } };
    const services = { announce: "cilium", addresses: ["10.0.1.0/30", "10.0.2.5-10.0.2.9"], interfaces: ["^enp6s18$"] };
    const recording = await deploy("home", { services, cilium });
    const inputsOf = (name: string) => recording.resources.find((one) => one.name === name)?.inputs;
    expect(inputsOf("home-cilium-release")).toMatchObject({
      values: {
        l2announcements: { enabled: true, leaseDuration: "9s" },
        k8sClientRateLimit: { qps: 50, burst: 100 },
      },
    });
    expect(inputsOf("home-services-pool")).toEqual({
      apiVersion: "cilium.io/v2",
      kind: "CiliumLoadBalancerIPPool",
      metadata: { name: "node-network" },
      spec: {
        blocks: [
          { start: "10.0.1.0", stop: "10.0.1.3" },
          { start: "10.0.2.5", stop: "10.0.2.9" },
        ],
      },
    });
    expect(inputsOf("home-services-announcement")).toEqual({
      apiVersion: "cilium.io/v2alpha1",
      kind: "CiliumL2AnnouncementPolicy",
      metadata: { name: "node-network" },
      spec: { loadBalancerIPs: true, interfaces: ["^enp6s18$"] },
    });
    // Its kinds exist once Cilium's operator runs, and the next gate waits for it.
    const pool = "kubernetes:cilium.io/v2:CiliumLoadBalancerIPPool home-services-pool";
    expect(waitsFor(recording, pool)).toContain(gate("CiliumReady", "cilium-ready", "home"));
    expect(waitsFor(recording, gate("NodesReady", "nodes-ready", "home"))).toContain(pool);
  });

  test("S4.4 Cilium gives Services addresses that kube-vip answers for, and does not answer itself", async () => {
    const recording = await deploy("home", {
      services: { announce: "kube-vip", addresses: ["10.0.1.0/30"] },
      "network.vipBy": "kube-vip",
    });
    const names = recording.resources.map(({ name }) => name);
    expect(names).toContain("home-services-pool");
    expect(names).not.toContain("home-services-announcement");
    expect(recording.resources.find(({ name }) => name === "home-cilium-release")?.inputs).not.toHaveProperty(
      "values.l2announcements",
    );
  });

  test("everything in the cluster is deleted with the cluster", async () => {
    const recording = await deploy("cloud", { flux });
    const components = recording.resources.filter(({ type }) => type.startsWith("sluice:platform:")).map(title);
    expect(recording.deletedWith).toEqual(Object.fromEntries(components.map((one) => [one, bootstrap])));
    const children = recording.resources.filter(({ type }) => type.startsWith("kubernetes:"));
    expect(children.filter(({ parent = "" }) => !components.includes(parent))).toEqual([]);
  });

  test("U2 the first preview has all resources, and invokes nothing", async () => {
    const update = await deploy("cloud", { flux });
    const preview = await deploy("cloud", { flux }, { preview: true });
    expect(preview.resources.map(title)).toEqual(update.resources.map(title));
    expect(preview.invokes).toEqual([]);
  });

  describe("the gates that run again after a change [C28]", () => {
    const ssh = { url: "ssh://git@git.example.org/home.git" };
    const sshKey = (content: string) => `-----BEGIN PRIVATE KEY-----\n${content}\n-----END PRIVATE KEY-----\n`;
    const known = { ...ssh, knownHosts: "git.example.org ssh-ed25519 AAAA" };
    const age = (digit: string) => `AGE-SECRET-KEY-1${digit.repeat(58)}`;
    const volumes = { "proxmox.volumes": { storage: "tank" } };
    const cases: readonly (readonly [string, Base, Record<string, unknown>, Record<string, unknown>, string[]])[] = [
      ["of Cilium's values", "cloud", {}, { cilium: { values: { debug: { enabled: true } } } }, ["CiliumReady"]],
      ["of the range of pods", "cloud", {}, { "network.podCidr": "10.99.0.0/16" }, ["NodesReady"]],
      ["of the storage of volumes", "home", {}, volumes, ["CsiReady"]],
      [
        "of the filesystem of volumes",
        "home",
        volumes,
        { "proxmox.volumes": { storage: "tank", filesystem: "xfs" } },
        ["CsiReady"],
      ],
      [
        "of the reclaim policy of volumes",
        "home",
        {},
        { "proxmox.volumes": { reclaimPolicy: "Retain" } },
        ["CsiReady"],
      ],
      ["of Flux' interval", "cloud", { flux }, { flux: { ...flux, interval: "5m" } }, ["GitOpsReady"]],
      ["of Flux' revision", "cloud", { flux }, { flux: { ...flux, revision: "0".repeat(40) } }, ["GitOpsReady"]],
      ["of Flux' user name", "cloud", { flux }, { flux: { ...flux, username: "me" } }, ["GitOpsReady"]],
      ["of the git password", "cloud", { flux, fluxGitPassword: "a" }, { fluxGitPassword: "b" }, ["GitOpsReady"]],
      [
        "of the git SSH key",
        "cloud",
        { flux: known, fluxGitSshKey: sshKey("a") },
        { fluxGitSshKey: sshKey("b") },
        ["GitOpsReady"],
      ],
      [
        "of the git server's host keys",
        "cloud",
        { flux: known, fluxGitSshKey: sshKey("a") },
        { flux: { ...ssh, knownHosts: "git.example.org ssh-ed25519 BBBB" } },
        ["GitOpsReady"],
      ],
      ["of the age key", "cloud", { flux, sopsAgeKey: age("0") }, { sopsAgeKey: age("1") }, ["GitOpsReady"]],
      ["of the Proxmox region", "home", {}, { "proxmox.region": "another" }, ["CsiReady"]],
      ["of the address of the Proxmox API", "home", {}, { "proxmox.endpoint": "https://10.0.0.3:8006" }, ["CsiReady"]],
      ["of timeouts alone", "cloud", { flux }, { timeouts: { csi: 99 }, stableSeconds: 9 }, []],
    ];

    test.each(cases)(
      "a change %s makes exactly the gates that guard it run again",
      async (_, base, from, to, again) => {
        expect(changedGates(await deploy(base, from), await deploy(base, { ...from, ...to }))).toEqual(again);
      },
    );

    test.each([
      ["of the cloud's network", "cloud", "hcloud:index/network:Network", { name: "another" }, ["NodesReady"]],
      ["of the volume account's token", "home", token, { value: "home-csi@pve!csi=another" }, ["CsiReady"]],
      ["of the volume account's name", "home", token, { userId: "another@pve", value: "x=the-secret" }, ["CsiReady"]],
    ] as const)("a change %s makes exactly the gates that guard it run again", async (_, base, type, change, again) => {
      const state: State = (one) => ({ ...made(one), ...(one.type === type && change) });
      expect(changedGates(await deploy(base), await deploy(base, {}, { state }))).toEqual(again);
    });

    test("a change of the cloud's token makes CsiReady and NodesReady run again", async () => {
      const before = await deploy("cloud");
      process.env.HCLOUD_TOKEN = "another";
      expect(changedGates(before, await deploy("cloud"))).toEqual(["CsiReady", "NodesReady"]);
    });

    test("triggers contain no secret", async () => {
      const secrets = { fluxGitPassword: "geheim-1", sopsAgeKey: age("7"), sealedSecretsCertificate: undefined };
      for (const recording of [await deploy("cloud", { flux, ...secrets }), await deploy("home")]) {
        const plain = [...guards(recording).values()].map(({ triggers }) => triggers);
        expect(plain.length).toBeGreaterThan(8);
        expect(JSON.stringify(plain)).not.toMatch(/geheim|AGE-SECRET|the-token|the-secret/);
      }
    });

    test("U2 a preview without a token keeps the secret triggers of the state", async () => {
      delete process.env.HCLOUD_TOKEN;
      const { resources } = await deploy("cloud", {}, { preview: true });
      const kept = resources.filter(({ ignoreChanges }) => ignoreChanges.includes("secretTriggers")).map(title);
      expect(kept).toEqual([csi, ready]);
    });
  });
});

/** What makes each gate run again, by the gate's name. */
function guards({ resources }: Recording<unknown>) {
  return new Map(
    resources.flatMap(({ type, inputs }) => {
      const [, name] = /gates:(\w+)$/.exec(type) ?? [];
      const { triggers, secretTriggers } = inputs as Readonly<Record<string, unknown>>;
      return name === undefined ? [] : [[name, { triggers, secretTriggers }] as const];
    }),
  );
}

/** The gates of the second whose triggers differ from those of the first. */
function changedGates(...both: readonly [Recording<unknown>, Recording<unknown>]): string[] {
  const [before, after] = both.map(guards);
  return [...(after?.keys() ?? [])].filter((name) => !isDeepStrictEqual(before?.get(name), after?.get(name))).sort();
}
