import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { parseClusterConfig } from "../../stacks/config.ts";
import { deployPlatform, type Guard, type MakeGate, type PlatformGate } from "../../stacks/platform.ts";
import { type RecordedResource, type Recording, record, title, unwrap } from "../support/mocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";

class Mark extends pulumi.CustomResource {
  constructor(type: string, name: string, dependsOn: readonly pulumi.Resource[] = []) {
    super(`test:marks:${type}`, name, {}, { dependsOn: [...dependsOn] });
  }
}

const flux = { url: "https://git.example.org/home.git" };

const proxmoxCsi = {
  endpoint: "https://10.0.0.2:8006",
  insecure: true,
  region: "proxmox",
  tokenId: "home-csi@pve!csi",
  tokenSecret: "the-secret",
};

/** The platform of an environment, with marks where the cluster and the gates are. */
async function deploy(
  base: Base,
  changes: Record<string, unknown> = {},
  preview = false,
  accounts: { readonly hcloud?: object; readonly proxmoxCsi?: object } = {},
) {
  const raw = Object.entries(changes).reduce((config, [path, value]) => changed(config, path, value), rawConfig(base));
  const config = parseClusterConfig(raw);
  const guards: Partial<Record<PlatformGate, Guard>> = {};
  const gate: MakeGate = (name, after, guard) => {
    guards[name] = guard;
    return new Mark("Gate", name, after);
  };
  const recording = await record(
    () => {
      const cluster = new Mark("Cluster", "cluster");
      deployPlatform({
        config,
        kubeconfig: pulumi.secret("the kubeconfig"),
        clusterIdentifier: "abc",
        hcloud:
          config.platform === "hetzner"
            ? { token: "the-token", network: "the-network", ...accounts.hcloud }
            : undefined,
        proxmoxCsi: config.platform === "proxmox" ? { ...proxmoxCsi, ...accounts.proxmoxCsi } : undefined,
        after: [cluster],
        deletedWith: cluster,
        gate,
      });
    },
    { preview },
  );
  return { ...recording, guards };
}

/** Everything that a resource waits for, directly, through its component and through what these wait for. */
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
  resources.filter(({ type }) => type === "test:marks:Gate").map(({ name }) => name);

describe("the platform", () => {
  test("S3.1 on Hetzner is all of it", async () => {
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
    "S3.1 of %s with %j has no stage and no gate that it does not need",
    async (base, changes, stages, gates) => {
      const recording = await deploy(base, changes);
      expect(stagesOf(recording)).toEqual(stages);
      expect(gatesOf(recording)).toEqual(gates);
    },
  );

  test.each([
    ["kubernetes:helm.sh/v3:Release cloud-cilium-release", ["test:marks:Cluster cluster"]],
    ["kubernetes:helm.sh/v3:Release cloud-ccm-release", ["test:marks:Gate CiliumReady"]],
    ["test:marks:Gate NodesReady", ["kubernetes:helm.sh/v3:Release cloud-ccm-release"]],
    [
      "kubernetes:helm.sh/v3:Release cloud-csi-release",
      ["test:marks:Gate NodesReady", "kubernetes:core/v1:Secret cloud-hcloud-secret"],
    ],
    [
      "kubernetes:helm.sh/v3:Release cloud-sealed-secrets-release",
      ["test:marks:Gate CiliumReady", "test:marks:Gate NodesReady", "test:marks:Gate CsiReady"],
    ],
    [
      "kubernetes:helm.sh/v3:Release cloud-flux-controllers",
      ["test:marks:Gate NodesReady", "test:marks:Gate SealedSecretsReady"],
    ],
    ["test:marks:Gate GitOpsReady", ["kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization cloud-flux-root"]],
  ])("S3.3 has %s wait for what it needs", async (resource, wanted) => {
    const found = waitsFor(await deploy("cloud", { flux }), resource);
    expect(wanted.filter((one) => !found.has(one))).toEqual([]);
  });

  test("S3.3 begins no stage, nor asks the cluster anything, before the gates in front of it", async () => {
    const recording = await deploy("cloud", { flux });
    const inCluster = recording.resources.filter(({ type }) => /^(kubernetes|pulumi:providers:kubernetes)/.test(type));
    expect(inCluster).toHaveLength(10);
    for (const resource of inCluster)
      expect(waitsFor(recording, title(resource))).toContain("test:marks:Cluster cluster");
  });

  test("S3.2 puts volumes on the storage of the VM disks, or on one of their own, as the environment says", async () => {
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

  test("S4.6 has Cilium give Services addresses of the node network and answer for them, where it is told to", async () => {
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
    // Its kinds are there when Cilium's operator runs, and nothing goes on before it is made.
    const pool = "kubernetes:cilium.io/v2:CiliumLoadBalancerIPPool home-services-pool";
    expect(waitsFor(recording, pool)).toContain("test:marks:Gate CiliumReady");
    expect(waitsFor(recording, "test:marks:Gate NodesReady")).toContain(pool);
  });

  test("S4.4 has Cilium give Services addresses that kube-vip answers for, and then not answer itself", async () => {
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

  test("has everything in the cluster go with the cluster", async () => {
    const recording = await deploy("cloud", { flux });
    const components = recording.resources.filter(({ type }) => type.startsWith("sluice:platform:")).map(title);
    expect(recording.deletedWith).toEqual(
      Object.fromEntries(components.map((one) => [one, "test:marks:Cluster cluster"])),
    );
    const children = recording.resources.filter(({ type }) => type.startsWith("kubernetes:"));
    expect(children.filter(({ parent = "" }) => !components.includes(parent))).toEqual([]);
  });

  test("U2 is whole in the first preview, and asks nobody", async () => {
    const update = await deploy("cloud", { flux });
    const preview = await deploy("cloud", { flux }, true);
    expect(preview.resources.map(title)).toEqual(update.resources.map(title));
    expect(preview.invokes).toEqual([]);
  });

  describe("has a gate waited at again when what it guards changes, and then only", () => {
    const ssh = { url: "ssh://git@git.example.org/home.git" };
    const known = { ...ssh, knownHosts: "git.example.org ssh-ed25519 AAAA" };
    const age = (digit: string) => `AGE-SECRET-KEY-1${digit.repeat(58)}`;
    const volumes = { "proxmox.volumes": { storage: "tank" } };
    const cases: readonly (readonly [
      string,
      Base,
      Record<string, unknown>,
      Record<string, unknown>,
      PlatformGate[],
    ])[] = [
      ["Cilium's values", "cloud", {}, { cilium: { values: { debug: { enabled: true } } } }, ["CiliumReady"]],
      ["the range of pods", "cloud", {}, { "network.podCidr": "10.99.0.0/16" }, ["NodesReady"]],
      ["the storage of volumes", "home", {}, volumes, ["CsiReady"]],
      [
        "their file system",
        "home",
        volumes,
        { "proxmox.volumes": { storage: "tank", filesystem: "xfs" } },
        ["CsiReady"],
      ],
      ["what becomes of them", "home", {}, { "proxmox.volumes": { reclaimPolicy: "Retain" } }, ["CsiReady"]],
      ["the interval", "cloud", { flux }, { flux: { ...flux, interval: "5m" } }, ["GitOpsReady"]],
      ["the commit", "cloud", { flux }, { flux: { ...flux, revision: "0".repeat(40) } }, ["GitOpsReady"]],
      ["who fetches", "cloud", { flux }, { flux: { ...flux, username: "me" } }, ["GitOpsReady"]],
      ["the password", "cloud", { flux, fluxGitPassword: "a" }, { fluxGitPassword: "b" }, ["GitOpsReady"]],
      ["the key", "cloud", { flux: known, fluxGitSshKey: "a" }, { fluxGitSshKey: "b" }, ["GitOpsReady"]],
      [
        "the server's keys",
        "cloud",
        { flux: known, fluxGitSshKey: "a" },
        { flux: { ...ssh, knownHosts: "git.example.org ssh-ed25519 BBBB" } },
        ["GitOpsReady"],
      ],
      ["the age key", "cloud", { flux, sopsAgeKey: age("0") }, { sopsAgeKey: age("1") }, ["GitOpsReady"]],
      ["nothing that is in the cluster", "cloud", { flux }, { timeouts: { csi: 99 }, stableSeconds: 9 }, []],
    ];

    test.each(cases)("%s", async (_, base, from, to, again) => {
      expect(await changedGates(await deploy(base, from), await deploy(base, { ...from, ...to }))).toEqual(again);
    });

    test.each([
      ["the token of the cloud", "cloud", { hcloud: { token: "another" } }, ["CsiReady", "NodesReady"]],
      ["the network of the cloud", "cloud", { hcloud: { network: "another" } }, ["NodesReady"]],
      ["the account's token", "home", { proxmoxCsi: { tokenSecret: "another" } }, ["CsiReady"]],
      ["the account's name", "home", { proxmoxCsi: { tokenId: "another@pve!csi" } }, ["CsiReady"]],
      ["the region", "home", { proxmoxCsi: { region: "another" } }, ["CsiReady"]],
      ["the API's address", "home", { proxmoxCsi: { endpoint: "https://10.0.0.3:8006" } }, ["CsiReady"]],
    ] as const)("%s", async (_, base, accounts, again) => {
      expect(await changedGates(await deploy(base), await deploy(base, {}, false, accounts))).toEqual(again);
    });

    test("and keeps to itself what is secret of it", async () => {
      const secrets = { fluxGitPassword: "geheim-1", sopsAgeKey: age("7"), sealedSecretsCertificate: undefined };
      for (const { guards } of [await deploy("cloud", { flux, ...secrets }), await deploy("home")]) {
        const plain = await Promise.all(Object.values(guards).map(({ triggers }) => becoming(triggers)));
        expect(JSON.stringify(plain)).not.toMatch(/geheim|AGE-SECRET|the-token|the-secret/);
      }
    });

    test("U2 but not in a preview that has no account, and so no token to compare", async () => {
      const { guards } = await deploy("cloud", {}, true, { hcloud: { keepToken: true } });
      expect(guards.NodesReady?.keepSecrets).toBe(true);
      expect(guards.CsiReady?.keepSecrets).toBe(true);
    });
  });
});

/** What the triggers have become. */
async function becoming(values: readonly pulumi.Input<unknown>[] = []): Promise<readonly unknown[]> {
  return (await unwrap(pulumi.all(values as pulumi.Input<string>[]))).value ?? [];
}

/** The gates of the second whose triggers are others than in the first. */
async function changedGates(...both: readonly { readonly guards: Partial<Record<PlatformGate, Guard>> }[]) {
  const [before = {}, after = {}] = await Promise.all(
    both.map(async ({ guards }) => {
      const all = Object.entries(guards).map(async ([gate, { triggers, secrets }]) => [
        gate,
        [await becoming(triggers), await becoming(secrets)],
      ]);
      return Object.fromEntries(await Promise.all(all)) as Record<string, unknown>;
    }),
  );
  return Object.keys(after)
    .filter((gate) => !isDeepStrictEqual(before[gate], after[gate]))
    .sort();
}
