// Which Helm releases of a running cluster the state takes over as they are.
import { describe, expect, test } from "@jest/globals";
import type { HelmRelease } from "../../../components/kubernetes/helmReleases.ts";
import { programReleases, type WantedRelease } from "../../../scripts/adopt/programReleases.ts";
import { releaseFindings } from "../../../scripts/adopt/releaseFindings.ts";
import { stateEntries } from "../../../scripts/adopt/stateEntries.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { rawConfig } from "../../support/rawConfig.ts";

const wanted: WantedRelease = {
  resource: "home-cilium-release",
  component: { type: "sluice:platform:Cilium", name: "home-cilium" },
  namespace: "kube-system",
  name: "cilium",
  chart: "cilium",
  version: "1.18.8",
  values: { ipam: { mode: "kubernetes" }, rollOutCiliumPods: true },
  unknown: [],
  inputs: { name: "cilium", values: { rollOutCiliumPods: true } },
};
const release: HelmRelease = {
  namespace: "kube-system",
  name: "cilium",
  chart: "cilium",
  version: "1.18.8",
  values: { rollOutCiliumPods: true },
  defaults: { ipam: { mode: "kubernetes" }, rollOutCiliumPods: false },
};
const csi: WantedRelease = { ...wanted, chart: "hcloud-csi", name: "hcloud-csi", values: {} };
const find = (one: WantedRelease, releases: readonly HelmRelease[], objects: Readonly<Record<string, unknown>> = {}) =>
  releaseFindings([one], { nodes: [], releases, objects });

describe("the Helm releases of a running cluster (S7.2)", () => {
  test("are taken over as they are if chart, version and the effective values are the same", () => {
    expect(find(wanted, [release])).toEqual({
      adopted: [
        {
          type: "kubernetes:helm.sh/v3:Release",
          name: "home-cilium-release",
          component: wanted.component,
          id: "kube-system/cilium",
          inputs: wanted.inputs,
        },
      ],
      differences: [],
      faults: [],
      missing: [],
    });
  });

  test.each<[string, Partial<HelmRelease>, string, string]>([
    ["version", { version: "1.17.1" }, "~ version: 1.17.1 -> 1.18.8", "set cilium.version to 1.17.1"],
    ["value", { values: {} }, "~ rollOutCiliumPods: false -> true", "set cilium.values.rollOutCiliumPods to false"],
    [
      "value that the environment does not have",
      { values: { rollOutCiliumPods: true, bpf: { masquerade: true } } },
      '~ bpf: {"masquerade":true} -> nothing',
      'set cilium.values.bpf to {"masquerade":true}',
    ],
  ])("are upgraded by the next up if they have another %s, with the key that keeps it", (_, own, text, key) => {
    const { adopted, differences } = find(wanted, [{ ...release, ...own }]);
    expect(differences).toEqual([{ release: "Helm release kube-system/cilium", text, key }]);
    expect(adopted[0]).not.toHaveProperty("inputs");
  });

  test("have no secret in what is printed of their values", () => {
    const secret = { hubble: { tls: { token: "SECRET" } } };
    const { differences } = find(wanted, [{ ...release, values: { ...release.values, ...secret } }]);
    expect(JSON.stringify(differences)).not.toContain("SECRET");
  });

  test("are upgraded if a value is known only once the program has run", () => {
    const { differences } = find({ ...wanted, unknown: ["existingConfigSecret"] }, [
      { ...release, values: { ...release.values, existingConfigSecret: "theirs" } },
    ]);
    expect(differences.map(({ text }) => text)).toEqual(["~ existingConfigSecret: another one that Sluice makes"]);
  });

  test("are refused under another name, and where Helm has not installed the software, with what to do", () => {
    const other = { ...release, name: "csi", chart: "hcloud-csi" };
    expect(find(csi, [other]).faults).toEqual([
      {
        where: "Helm release kube-system/hcloud-csi",
        seen: "the chart hcloud-csi is installed as kube-system/csi, and Helm renames no release",
        remedy: "to leave it to whoever installed it, set csi.enabled to false",
      },
    ]);
    const [fault] = find(wanted, [], { "/apis/apps/v1/namespaces/kube-system/daemonsets/cilium": {} }).faults;
    expect(fault?.seen).toBe("cilium runs, and Helm has not installed it: it has no release");
    expect(fault?.remedy).toMatch(/^to give it to Helm, .* helm upgrade --install cilium .* --take-ownership$/);
  });

  test("are installed by the next up where the cluster has none", () => {
    expect(find(csi, [])).toMatchObject({ adopted: [], faults: [], missing: ["hcloud-csi 1.18.8"] });
  });
});

describe("the releases of an environment", () => {
  test("S7.2 are those that the program registers, with the components that contain them", async () => {
    const releases = await programReleases(
      parseClusterConfig({ ...rawConfig("existing"), flux: { url: "https://git.example.org/a.git" } }),
    );
    expect(releases.map(({ namespace, name, component }) => `${component.type} ${namespace}/${name}`).sort()).toEqual([
      "sluice:platform:Cilium kube-system/cilium",
      "sluice:platform:Flux flux-system/flux",
      "sluice:platform:SealedSecrets kube-system/sealed-secrets",
    ]);
    for (const { inputs, unknown } of releases) {
      expect(inputs).toMatchObject({ skipAwait: true, maxHistory: 5 });
      expect(unknown).toEqual([]);
    }
  });
});

describe("the entries of what was found in a state", () => {
  const stack = "urn:pulumi:home::sluice";
  const kept = [
    { urn: `${stack}::pulumi:providers:kubernetes::home-kubernetes`, type: "pulumi:providers:kubernetes", id: "4711" },
    { urn: `${stack}::sluice:platform:Cilium::home-cilium`, type: "sluice:platform:Cilium" },
  ];
  const found = find(wanted, [release]).adopted;

  test("S7.2 are parts of their components, with the inputs of the program where nothing differs", () => {
    expect(stateEntries(found, kept)).toEqual([
      {
        urn: `${stack}::sluice:platform:Cilium$kubernetes:helm.sh/v3:Release::home-cilium-release`,
        custom: true,
        id: "kube-system/cilium",
        type: "kubernetes:helm.sh/v3:Release",
        parent: kept[1]?.urn,
        provider: `${kept[0]?.urn}::4711`,
        inputs: wanted.inputs,
        outputs: {
          ...wanted.inputs,
          __inputs: expect.objectContaining({ plaintext: JSON.stringify(wanted.inputs) }),
        },
      },
    ]);
  });

  test("S7.2 leave to the engine what the next up changes", () => {
    const changed = find(wanted, [{ ...release, version: "1.17.1" }]).adopted;
    expect(stateEntries(changed, kept)).toMatchObject([{ inputs: {}, outputs: {} }]);
  });
});
