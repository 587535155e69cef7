import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { ConfigError } from "../../../stacks/base/fault.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { anyAddress, anyCidr, boundsOf, numberOf } from "../../components/network/ipv4.ts";
import { type Base, changed, type RawConfig, rawConfig } from "../../support/rawConfig.ts";

/** One change to a good configuration, and the one fault that must result. */
interface Fixture {
  readonly title: string;
  readonly base: Base;
  readonly change?: Record<string, unknown>;
  readonly remove?: string[];
  readonly expect: string;
}

const folder = `${import.meta.dirname}/../../fixtures/config`;
const fixtures = [folder, `${folder}/tables`].flatMap((place) =>
  readdirSync(place)
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file): Fixture | Fixture[] => parse(readFileSync(`${place}/${file}`, "utf8"))),
);

/** The error with which the configuration is refused, if it is. */
function refusalOf(raw: RawConfig): ConfigError | undefined {
  try {
    parseClusterConfig(raw);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

describe("one fault in a good configuration is reported with its place, the value and what to do", () => {
  test.each(fixtures)("$title", ({ base, change = {}, remove = [], expect: line }) => {
    const edits = [...Object.entries(change), ...remove.map((path): [string, undefined] => [path, undefined])];
    const raw = edits.reduce((config, [path, value]) => changed(config, path, value), rawConfig(base));
    expect(refusalOf(raw)?.message).toBe(`The configuration has 1 fault:\n  ${line}`);
  });
});

describe("several faults", () => {
  test("S2.4 several faults of the network plan are listed in one message, one per line", () => {
    const edits: [string, unknown][] = [
      ["network.gateway", "10.1.0.1"],
      ["network.vip", "10.0.0.12"],
      ["network.podCidr", "10.0.0.0/17"],
      ["nodes[3].address", "10.2.0.21"],
      ["nodes[4].vmId", 303],
    ];
    const raw = edits.reduce((config, [path, value]) => changed(config, path, value), rawConfig("home"));
    expect(refusalOf(raw)?.message).toBe(
      [
        "The configuration has 5 faults:",
        "  network.podCidr: 10.0.0.0/17 overlaps network.nodeCidr 10.0.0.0/16: use a separate range",
        "  network.gateway: 10.1.0.1 is outside network.nodeCidr 10.0.0.0/16",
        "  nodes[3].address (w-1): 10.2.0.21 is outside network.nodeCidr 10.0.0.0/16",
        "  network.vip: 10.0.0.12 is also the address of nodes[1] (cp-2)",
        "  nodes[4].vmId (w-2): 303 is also the VM id of nodes[3] (w-1); every node needs its own",
      ].join("\n"),
    );
  });

  test("S2.4 faults of the schema do not prevent rules on the keys that could be read", () => {
    const edits: [string, unknown][] = [
      ["clustrName", "home"],
      ["network.vip", "10.0.0.300"],
      ["image.extensions", []],
      ["nodes[4].name", "w-1"],
    ];
    const raw = edits.reduce((config, [path, value]) => changed(config, path, value), rawConfig("home"));
    expect(refusalOf(raw)?.faults).toEqual([
      { path: "clustrName", message: "unknown key - did you mean 'clusterName'?" },
      { path: "network.vip", message: 'must be an IPv4 address, such as 10.0.0.20, got "10.0.0.300"' },
      {
        path: "image.extensions",
        message:
          "does not contain siderolabs/qemu-guest-agent, but proxmox.vm.agent is on: Proxmox would wait for an agent that never answers",
      },
    ]);
  });

  test("S2.4 an empty configuration is refused with every required key", () => {
    expect(refusalOf({})?.faults.map(({ path }) => path)).toEqual([
      "clusterName",
      "platform",
      "talosVersion",
      "kubernetesVersion",
      "nodes",
      "network",
    ]);
  });
});

describe("a good configuration", () => {
  test.each(["home", "cloud", "existing"] as const)("the configuration %s is accepted", (base) => {
    expect(parseClusterConfig(rawConfig(base)).clusterName).toMatch(/^(home|cloud|rack)$/);
  });

  test("S2.4 the network plan of the field report is accepted", () => {
    const network = {
      nodeCidr: "192.168.20.0/22",
      gateway: "192.168.23.254",
      vip: "192.168.22.100",
      podCidr: "10.42.0.0/16",
      serviceCidr: "10.43.0.0/16",
      vlan: { tag: 4094, mode: "access" },
    };
    const nodes = [
      { name: "cp-1", role: "controlplane", address: "192.168.20.11", mac: "02:00:00:00:00:0b" },
      { name: "w-1", role: "worker", address: "192.168.23.21" },
    ];
    const config = parseClusterConfig({ ...rawConfig("existing"), network, nodes });
    expect(config.network).toEqual({
      ...network,
      vipBy: "talos",
      dnsDomain: "cluster.local",
      nameservers: [],
      disableSearchDomain: true,
      addressing: "dhcp",
    });
  });

  test("a pre-release of Talos and of Kubernetes is accepted", () => {
    const versions = { talosVersion: "1.13.0-beta.1", kubernetesVersion: "v1.36.0-rc.0" };
    expect(parseClusterConfig({ ...rawConfig("existing"), ...versions })).toMatchObject({
      talosVersion: "1.13.0-beta.1",
      kubernetesVersion: "1.36.0-rc.0",
    });
  });

  test.each<[string, Base, string, unknown]>([
    [
      "the image of a registry of your own, with the version of the cluster",
      "existing",
      "patches",
      [{ name: "mirror", patch: { machine: { kubelet: { image: "registry.home.lan/kubelet:v1.35.4@sha256:abc" } } } }],
    ],
    [
      "etcd's arguments on control planes alone",
      "existing",
      "patches",
      [
        {
          name: "etcd",
          role: "controlplane",
          patch: { cluster: { etcd: { extraArgs: { "election-timeout": "5000" } } } },
        },
      ],
    ],
    [
      "a map without a key that is deleted",
      "existing",
      "patches",
      [{ name: "logging", patch: { machine: { logging: { $patch: "delete" } } } }],
    ],
    ["the gateway as a nameserver", "home", "network.nameservers", ["10.0.0.1"]],
    ["the host of Proxmox as a nameserver", "home", "network.nameservers", ["10.0.0.2"]],
    ["a control plane's address as the endpoint", "existing", "endpoint", "10.0.0.11"],
    ["an address outside the node network as the endpoint", "home", "endpoint", "203.0.113.7"],
    ["a name that ends in a label with digits as the endpoint", "home", "endpoint", "k8s.lan1"],
    ["a taint without a value", "home", "nodes[3].taints", { dedicated: ":NoSchedule" }],
    ["a CPU type of the user's own", "home", "proxmox.vm", { cpu: "custom-avx" }],
    [
      "native routing with its range",
      "home",
      "cilium",
      { values: { routingMode: "native", ipv4NativeRoutingCIDR: "10.244.0.0/16" } },
    ],
    ["a disk by its id", "existing", "install", { disk: "/dev/disk/by-id/wwn-0x5002538d" }],
    [
      "a wildcard in the certificate",
      "existing",
      "machine",
      { apiServer: { certSANs: ["*.home.lan", "2001:db8::1"] } },
    ],
    [
      "labels of Cilium's pods",
      "home",
      "cilium",
      { values: { podLabels: { "example.org/a": "b" }, operator: { nodeSelector: { a: "b" } } } },
    ],
    [
      "another version of Cilium with values that this one does not have",
      "home",
      "cilium",
      { version: "1.19.0", values: { hubbel: true } },
    ],
  ])("S2.4 %s: accepted", (_, base, path, value) => {
    expect(refusalOf(changed(rawConfig(base), path, value))?.message).toBeUndefined();
  });

  test("S2.3 extra kernel arguments are accepted where the image's command line is off", () => {
    const install = { extraKernelArgs: ["console=ttyS0"], grubUseUKICmdline: false };
    expect(parseClusterConfig({ ...rawConfig("existing"), install }).install).toEqual({ wipe: false, ...install });
  });

  test("S2.3 extra kernel arguments are accepted on a Talos before the image's command line", () => {
    const old = { talosVersion: "v1.11.2", kubernetesVersion: "1.32.4", install: { extraKernelArgs: ["quiet"] } };
    const config = parseClusterConfig({ ...rawConfig("existing"), ...old });
    expect([config.talosVersion, config.install.extraKernelArgs]).toEqual(["1.11.2", ["quiet"]]);
  });

  test("S2.1 a kernel argument with the log destination of the config is accepted", () => {
    const kernelArgs = ["talos.logging.kernel=udp://127.0.0.1:6050"];
    const machine = { logShipping: { enabled: true } };
    expect(parseClusterConfig({ ...rawConfig("existing"), machine, image: { kernelArgs } }).image).toMatchObject({
      kernelArgs,
    });
  });

  test.each([
    "example.org/disk",
    "node.kubernetes.io/pool",
    "topology.kubernetes.io/zone",
    "kubernetes.io.example.org/role",
    "disk",
  ])("a worker may set the label %s on itself", (label) => {
    const raw = changed(rawConfig("home"), "nodes[3].labels", { [label]: "a" });
    expect(parseClusterConfig(raw).nodes[3]?.labels).toEqual({ [label]: "a" });
  });

  test("a control plane may set a label that a worker may not", () => {
    const raw = changed(rawConfig("home"), "nodes[0].labels", { "node-role.kubernetes.io/ingress": "" });
    expect(parseClusterConfig(raw).nodes[0]?.labels).toEqual({ "node-role.kubernetes.io/ingress": "" });
  });

  test("S4.5 a VIP outside the node network is accepted in a tailnet", () => {
    const edits: [string, unknown][] = [
      ["tailscale", { enabled: true, loginServer: "https://headscale.example.org" }],
      ["tailscaleAuthKey", "the-key"],
      ["image.extensions", ["siderolabs/qemu-guest-agent", "siderolabs/tailscale"]],
      ["network.vip", "100.64.0.20"],
      ["network.vipBy", "kube-vip"],
      ["kubeVip", { interface: "tailscale0" }],
    ];
    const raw = edits.reduce((config, [path, value]) => changed(config, path, value), rawConfig("home"));
    expect(parseClusterConfig(raw).network.vip).toBe("100.64.0.20");
    expect(refusalOf(changed(raw, "kubeVip", {}))?.message).toContain("network.vip: 100.64.0.20 is outside");
  });

  test("S2.4 a VLAN trunk is accepted if the image has the tag", () => {
    const told = changed(rawConfig("home"), "network.vlan", { tag: 20, mode: "trunk" });
    expect(parseClusterConfig(told).network.vlan).toEqual({ tag: 20, mode: "trunk" });
  });

  test("on Hetzner only the allowed ranges are required in the platform's section", () => {
    const settings = { allowedCidrs: ["203.0.113.0/24"] };
    const raw = changed(changed(rawConfig("cloud"), "hetzner", settings), "endpoint", "k8s.example.org");
    expect(parseClusterConfig(raw).hetzner).toEqual({
      location: "fsn1",
      networkZone: "eu-central",
      placementGroups: true,
      serverTypes: { controlplane: "cx33", worker: "cx43" },
      allowedCidrs: ["203.0.113.0/24"],
      snapshot: { build: false },
      cloudControllerManager: { enabled: true, version: expect.any(String) },
    });
  });
});

test("S2.4 any VIP is refused as outside exactly when its number is not in the node network", () => {
  fc.assert(
    fc.property(anyCidr, anyAddress, (nodeCidr, vip) => {
      const raw = changed(changed(rawConfig("home"), "network.nodeCidr", nodeCidr), "network.vip", vip);
      const message = { path: "network.vip", message: `${vip} is outside network.nodeCidr ${nodeCidr}` };
      const [first, last] = boundsOf(nodeCidr);
      const isInside = first <= numberOf(vip) && numberOf(vip) <= last;
      const faults = refusalOf(raw)?.faults ?? [];
      if (isInside) expect(faults).not.toContainEqual(message);
      else expect(faults).toContainEqual(message);
    }),
  );
});

describe("a value of a secret patch is not in the message", () => {
  const secret = "hunter2";
  const machine = { sysctls: { token: secret } };

  test.each<[string, unknown]>([
    ["when the list is a text", secret],
    ["when a patch is a text", [secret]],
    ["when a patch has no content", [{ name: secret }]],
    ["when the name is no name", [{ name: `${secret}!`, patch: { machine } }]],
    [
      "when the name is used twice",
      [
        { name: secret, patch: { machine } },
        { name: secret, patch: { machine } },
      ],
    ],
    ["when the content is a text", [{ name: "token", patch: secret }]],
    ["when the content is empty", [{ name: secret, patch: {} }]],
    ["when the content has an unknown section", [{ name: "token", patch: { [secret]: secret } }]],
    ["when the content is an incomplete document", [{ name: "token", patch: { kind: secret } }]],
    ["when the content sets what follows from other keys", [{ name: "token", patch: { machine: { token: secret } } }]],
    ["when the role is unknown", [{ name: "token", role: secret, patch: { machine } }]],
    ["when the switch is unknown", [{ name: "token", when: secret, patch: { machine } }]],
    ["when the node is unknown", [{ name: "token", nodes: [secret], patch: { machine } }]],
    ["when a key is out of place", [{ name: "token", patch: { machine }, [secret]: secret }]],
  ])("%s", (_, secretPatches) => {
    const message = refusalOf({ ...rawConfig("home"), secretPatches })?.message;
    expect(message).toContain("secretPatches");
    expect(message).not.toContain(secret);
  });
});
