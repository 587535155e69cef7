import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { parseClusterConfig } from "../../stacks/config.ts";
import { ConfigError } from "../../stacks/fault.ts";
import { anyAddress, anyCidr, boundsOf, numberOf } from "../components/network/ipv4.ts";
import { type Base, changed, type RawConfig, rawConfig } from "../support/rawConfig.ts";

/** One change to a good configuration, and the one fault that has to come of it. */
interface Fixture {
  readonly title: string;
  readonly base: Base;
  readonly change?: Record<string, unknown>;
  readonly remove?: string[];
  readonly expect: string;
}

const folder = `${import.meta.dirname}/../fixtures/config`;
const fixtures = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .map((file): Fixture => parse(readFileSync(`${folder}/${file}`, "utf8")));

/** The error that the configuration is refused with, if it is. */
function refusalOf(raw: RawConfig): ConfigError | undefined {
  try {
    parseClusterConfig(raw);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

describe("one fault in a good configuration is told with place, value and remedy", () => {
  test.each(fixtures)("$title", ({ base, change = {}, remove = [], expect: line }) => {
    const edits = [...Object.entries(change), ...remove.map((path): [string, undefined] => [path, undefined])];
    const raw = edits.reduce((config, [path, value]) => changed(config, path, value), rawConfig(base));
    expect(refusalOf(raw)?.message).toBe(`The configuration has 1 fault:\n  ${line}`);
  });
});

describe("several faults", () => {
  test("S2.4 of the network plan are listed in one message, one a line", () => {
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
        "  network.podCidr: 10.0.0.0/17 overlaps network.nodeCidr 10.0.0.0/16: give it a range of its own",
        "  network.gateway: 10.1.0.1 is outside network.nodeCidr 10.0.0.0/16",
        "  nodes[3].address (w-1): 10.2.0.21 is outside network.nodeCidr 10.0.0.0/16",
        "  network.vip: 10.0.0.12 is also the address of nodes[1] (cp-2)",
        "  nodes[4].vmId (w-2): 303 is also the VM id of nodes[3] (w-1); every node needs its own",
      ].join("\n"),
    );
  });

  test("S2.4 of shape do not keep back the rules on what could be read", () => {
    const edits: [string, unknown][] = [
      ["clustrName", "home"],
      ["network.vip", "10.0.0.300"],
      ["image.extensions", []],
      ["nodes[4].name", "w-1"],
    ];
    const raw = edits.reduce((config, [path, value]) => changed(config, path, value), rawConfig("home"));
    expect(refusalOf(raw)?.faults).toEqual([
      { path: "clustrName", message: "unknown key - did you mean 'clusterName'?" },
      { path: "network.vip", message: 'must be an IPv4 address, got "10.0.0.300"' },
      {
        path: "image.extensions",
        message:
          "lacks siderolabs/qemu-guest-agent, but proxmox.vm.agent is on: Proxmox would wait for an agent that never answers",
      },
    ]);
  });

  test("S2.4 of any kind never hide that a configuration is empty", () => {
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
  test.each(["home", "cloud", "existing"] as const)("%s is accepted", (base) => {
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

  test("S2.3 may have extra kernel arguments where the image's command line is off", () => {
    const install = { extraKernelArgs: ["console=ttyS0"], grubUseUKICmdline: false };
    expect(parseClusterConfig({ ...rawConfig("existing"), install }).install).toEqual({ wipe: false, ...install });
  });

  test("S2.3 may have extra kernel arguments on a Talos before the image's command line", () => {
    const old = { talosVersion: "v1.11.2", kubernetesVersion: "1.32.4", install: { extraKernelArgs: ["quiet"] } };
    const config = parseClusterConfig({ ...rawConfig("existing"), ...old });
    expect([config.talosVersion, config.install.extraKernelArgs]).toEqual(["1.11.2", ["quiet"]]);
  });

  test("S2.1 may have kernel messages sent from the kernel's start on to the place that the config names later", () => {
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
  ])("may have a worker set the label %s on itself", (label) => {
    const raw = changed(rawConfig("home"), "nodes[3].labels", { [label]: "a" });
    expect(parseClusterConfig(raw).nodes[3]?.labels).toEqual({ [label]: "a" });
  });

  test("may have a control plane set a label that a worker may not", () => {
    const raw = changed(rawConfig("home"), "nodes[0].labels", { "node-role.kubernetes.io/ingress": "" });
    expect(parseClusterConfig(raw).nodes[0]?.labels).toEqual({ "node-role.kubernetes.io/ingress": "" });
  });

  test("S4.5 may have its VIP in a tailnet, where no address is one of the node network", () => {
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

  test("S2.4 may have its node network in a VLAN trunk where the image tells the tag", () => {
    const told = changed(rawConfig("home"), "network.vlan", { tag: 20, mode: "trunk" });
    expect(parseClusterConfig(told).network.vlan).toEqual({ tag: 20, mode: "trunk" });
  });

  test("on Hetzner may leave its platform's section to the defaults, but for who is let in", () => {
    const settings = { allowedCidrs: ["203.0.113.0/24"] };
    const raw = changed(changed(rawConfig("cloud"), "hetzner", settings), "endpoint", "k8s.example.org");
    expect(parseClusterConfig(raw).hetzner).toEqual({
      location: "fsn1",
      networkZone: "eu-central",
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

describe("no value of a secret patch is in the message", () => {
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
