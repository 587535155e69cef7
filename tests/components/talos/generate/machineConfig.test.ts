import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { machineConfigurationArgs, nodePatches } from "../../../../components/talos/generate/machineConfig.ts";
import { goldenNodes } from "../goldenClusters.ts";
import { machineInput, machineNode, talosVersions } from "../machineInput.ts";

describe.each(talosVersions)("the machine config patches (S2.1) for Talos %s", (version) => {
  test.each(goldenNodes(version).map((golden) => [golden.node.name, golden] as const))(
    "are those in the golden file of %s",
    (name, { input, node }) => {
      const folder = `tests/goldens/patches/${version}`;
      const actual = nodePatches(input, node).join("---\n");
      if (process.env.UPDATE_GOLDENS === "1") {
        mkdirSync(folder, { recursive: true });
        writeFileSync(`${folder}/${name}.yaml`, actual);
      }
      expect(actual).toBe(readFileSync(`${folder}/${name}.yaml`, "utf8"));
    },
  );

  test("of a node do not depend on its neighbours (S4.2)", () => {
    const neighbour = fc.record({
      role: fc.constantFrom("controlplane", "worker"),
      address: fc.ipV4(),
      labels: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.stringMatching(/^[a-z]{1,5}$/)),
    });
    const self = { name: "self", role: "controlplane", address: "10.0.0.11", mac: "02:00:00:00:00:0b" };
    // A worker stays, because a control plane's patches depend on whether there is one.
    const worker = { name: "stays", role: "worker", address: "10.0.0.99" };
    const patches = (others: readonly object[]) => {
      const named = others.map((other, index) => ({ name: `n-${index}`, ...other }));
      const input = machineInput(version, { nodes: [...named, self, worker], network: { vip: "10.0.0.20" } });
      return nodePatches(input, machineNode(input, "self"));
    };
    const alone = patches([]);
    fc.assert(
      fc.property(fc.array(neighbour, { maxLength: 4 }), (others) => {
        expect(patches(others)).toStrictEqual(alone);
      }),
    );
  });

  test("contain nothing empty, whatever is on or off (S2.2)", () => {
    const machine = fc.record({
      hostDNS: fc.record({ enabled: fc.boolean(), forwardKubeDNSToHost: fc.boolean() }),
      kubelet: fc.record({
        featureGates: fc.constantFrom({}, { ImageVolume: true }),
        serializeImagePulls: fc.boolean(),
      }),
      apiServer: fc.record({ aggregatorRouting: fc.boolean() }),
      ciliumHostDNS: fc.option(fc.boolean(), { nil: undefined }),
      scheduleOnControlPlanes: fc.option(fc.boolean(), { nil: undefined }),
      logShipping: fc.record({ enabled: fc.boolean() }),
    });
    const network = fc.record({
      disableSearchDomain: fc.boolean(),
      addressing: fc.constantFrom("dhcp", "meta"),
      vip: fc.constantFrom(undefined, "10.0.0.20"),
    });
    fc.assert(
      fc.property(machine, network, fc.constantFrom("cp-1", "w-1"), (machine, network, name) => {
        const input = machineInput(version, { machine, network });
        for (const patch of nodePatches(input, machineNode(input, name)).map((text) => parse(text))) {
          expect(emptyPaths(patch)).toStrictEqual([]);
        }
      }),
    );
  });

  test("are read back unchanged, also for words to which YAML gives another type", () => {
    const words = {
      off: "off",
      yes: "Yes",
      octal: "0777",
      number: "1_000",
      time: "12:30:45",
      nothing: "~",
      long: "a ".repeat(99),
    };
    const input = machineInput(version, { patches: [{ name: "words", patch: { machine: { env: words } } }] });
    const text = nodePatches(input, machineNode(input, "cp-1")).at(-1) ?? "";
    expect(parse(text, { version: "1.1" })).toStrictEqual({ machine: { env: words } });
    expect(parse(text, { version: "1.2" })).toStrictEqual({ machine: { env: words } });
  });
});

describe("the arguments of the generator (S0.4)", () => {
  test("name the cluster, its endpoint, the contract, and the patches", () => {
    const input = machineInput("1.13.8", { network: { vip: "10.0.0.20" }, configContract: "v1.12" });
    const node = machineNode(input, "w-1");
    expect(machineConfigurationArgs(input, node)).toStrictEqual({
      clusterName: "home",
      clusterEndpoint: "https://10.0.0.20:6443",
      machineType: "worker",
      talosVersion: "v1.12",
      kubernetesVersion: "1.34.2",
      docs: false,
      examples: false,
      configPatches: nodePatches(input, node),
    });
  });
});

describe("S8.1 another Talos version with the same contract", () => {
  test.each(["v1.11", "v1.12"])("changes nothing in the configs of contract %s but the installer", (configContract) => {
    const config = { configContract, network: { vip: "10.0.0.20", addressing: "meta", nameservers: ["10.0.0.1"] } };
    const texts = ["1.12.6", "1.13.8"].map((version) => {
      const input = machineInput(version, config);
      const all = input.nodes.map(({ name }) => machineConfigurationArgs(input, machineNode(input, name)));
      return JSON.stringify(all).replaceAll(version, "<version>");
    });
    expect(texts[0]).toContain(":v<version>");
    expect(texts[1]).toBe(texts[0]);
  });
});

function emptyPaths(value: unknown, path = "$"): readonly string[] {
  if (value === null || value === "") {
    return [path];
  }
  if (typeof value !== "object") {
    return [];
  }
  const entries = Object.entries(value);
  return entries.length === 0 ? [path] : entries.flatMap(([key, inner]) => emptyPaths(inner, `${path}.${key}`));
}
