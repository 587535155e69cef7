// The environment's file that `npm run adopt -- <environment> --draft` writes from what runs. All of it is pure.
import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { schematicId } from "../../../components/images/schematic.ts";
import { type DraftedNode, draftSettings, fluxOf } from "../../../scripts/adopt/draftSettings.ts";
import type { KubernetesLook } from "../../../scripts/adopt/lookAtCluster.ts";
import type { WantedRelease } from "../../../scripts/adopt/programReleases.ts";
import { keptReleases } from "../../../scripts/adopt/releaseFindings.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";

const schematic = { extensions: ["siderolabs/iscsi-tools"], kernelArgs: ["net.ifnames=0"] };
const schematicText = stringify({
  customization: {
    extraKernelArgs: schematic.kernelArgs,
    systemExtensions: { officialExtensions: schematic.extensions },
  },
});

function config(machine: object = {}, cluster: object = {}, ...others: readonly object[]): string {
  const main = {
    version: "v1alpha1",
    machine: {
      install: { disk: "/dev/sda", image: "installer" },
      kubelet: { image: "ghcr.io/siderolabs/kubelet:v1.36.4" },
      features: { hostDNS: { enabled: true, forwardKubeDNSToHost: true } },
      ...machine,
    },
    cluster: {
      clusterName: "home",
      controlPlane: { endpoint: "https://k8s.example.org:6443" },
      network: { podSubnets: ["10.42.0.0/16"], serviceSubnets: ["10.43.0.0/16"], dnsDomain: "cluster.local" },
      ...cluster,
    },
  };
  return [main, ...others].map((document) => stringify(document)).join("---\n");
}

function node(name: string, last: number, change: Partial<DraftedNode> = {}): DraftedNode {
  const text = change.config ?? config();
  return {
    kind: "runs",
    name,
    role: name.startsWith("cp") ? "controlplane" : "worker",
    version: "1.13.8",
    schematic: schematicId(schematic),
    stage: "running",
    config: text,
    persistent: text,
    hostname: name,
    uuid: `00000000-0000-4000-8000-0000000000${last}`,
    address: `10.0.0.${last}`,
    addresses: [
      { address: `10.0.0.${last}/16`, mac: `52:54:00:00:00:${last}` },
      { address: "127.0.0.1/8", mac: "" },
    ],
    image: { extensions: ["iscsi-tools"], schematicText },
    identityFaults: [],
    ...change,
  };
}

describe("the draft of an environment (S7.2)", () => {
  const labelled = config({ nodeLabels: { disk: "fast" }, nodeTaints: { gpu: "yes:NoSchedule" } });
  const nodes = [node("cp-1", 11), node("w-1", 21, { config: labelled }), node("w-2", 22)];

  test("has the nodes, versions, ranges, disk, schematic, labels and taints that run, in a form that the program reads", () => {
    const { settings, doubts } = draftSettings({ nodes });
    expect(doubts).toEqual([]);
    expect(settings).toMatchObject({
      clusterName: "home",
      platform: "existing",
      talosVersion: "1.13.8",
      kubernetesVersion: "1.36.4",
      endpoint: "k8s.example.org",
      nodes: [
        { name: "cp-1", role: "controlplane", address: "10.0.0.11", uuid: "00000000-0000-4000-8000-000000000011" },
        {
          name: "w-1",
          role: "worker",
          address: "10.0.0.21",
          labels: { disk: "fast" },
          taints: { gpu: "yes:NoSchedule" },
        },
        { name: "w-2", role: "worker", address: "10.0.0.22" },
      ],
      network: {
        nodeCidr: "10.0.0.0/16",
        podCidr: "10.42.0.0/16",
        serviceCidr: "10.43.0.0/16",
        dnsDomain: "cluster.local",
      },
      image: schematic,
      install: { disk: "/dev/sda" },
      flux: { enabled: false },
    });
    expect(parseClusterConfig({ ...settings }).nodes.map(({ name }) => name)).toEqual(["cp-1", "w-1", "w-2"]);
  });

  const shared = { interfaces: [{ interface: "eth0", vip: { ip: "10.0.0.20" } }] };
  const atVip = { controlPlane: { endpoint: "https://10.0.0.20:6443" } };
  test.each([
    ["of the old form", config({ network: shared }, atVip)],
    [
      "in its own document",
      config({}, atVip, { apiVersion: "v1alpha1", kind: "Layer2VIPConfig", name: "10.0.0.20", link: "eth0" }),
    ],
  ])("has a VIP %s, and the MACs of the NICs that share it", (_, text) => {
    const { settings } = draftSettings({ nodes: [node("cp-1", 11, { config: text }), node("w-1", 21)] });
    expect(settings).toMatchObject({
      network: { vip: "10.0.0.20" },
      nodes: [{ mac: "52:54:00:00:00:11" }, expect.not.objectContaining({ mac: expect.anything() })],
    });
    expect(settings).not.toHaveProperty("endpoint");
  });

  test("has the settings of Talos that no patch may set", () => {
    const text = config(
      { features: {}, kubelet: { image: "kubelet:v1.36.4", extraArgs: { "feature-gates": "A=true,B=false" } } },
      {
        allowSchedulingOnControlPlanes: true,
        apiServer: {
          certSANs: ["k8s.example.org", "10.0.0.11", "other.example.org"],
          extraArgs: { "enable-aggregator-routing": "true" },
        },
      },
    );
    expect(draftSettings({ nodes: [node("cp-1", 11, { config: text })] }).settings.machine).toEqual({
      hostDNS: { enabled: false, forwardKubeDNSToHost: false, resolveMemberNames: false },
      kubelet: { featureGates: { A: true, B: false }, serializeImagePulls: true },
      apiServer: { featureGates: {}, aggregatorRouting: true, certSANs: ["other.example.org"] },
      ciliumHostDNS: false,
      scheduleOnControlPlanes: true,
    });
  });

  test("says what one environment cannot describe: several versions, several schematics, and more in one than keys", () => {
    const other = node("w-1", 21, {
      version: "1.13.7",
      schematic: "other",
      config: config({ kubelet: { image: "kubelet:v1.36.3" } }),
    });
    const overlay = stringify({ overlay: { name: "rpi_generic" }, customization: {} });
    const first = node("cp-1", 11, { schematic: "with overlay", image: { extensions: [], schematicText: overlay } });
    expect(draftSettings({ nodes: [first, other] }).doubts).toEqual([
      "the nodes run several versions of Talos: 1.13.8, 1.13.7. talosVersion has the first",
      "the nodes run several versions of Kubernetes: 1.36.4, 1.36.3. kubernetesVersion has the first",
      "the nodes have several schematics: with overlay, other. image describes that of cp-1",
      "schematic with overlay has more than image can describe: npm run adopt lists it as a difference",
    ]);
  });

  test("has the extensions by their names where a node does not report its schematic, and none for an image of no factory", () => {
    const imageOf = (change: Partial<DraftedNode>) =>
      draftSettings({ nodes: [node("cp-1", 11, change)] }).settings.image;
    const id = schematicId({ extensions: ["siderolabs/iscsi-tools"], kernelArgs: [] });
    expect(imageOf({ schematic: id, image: { extensions: ["iscsi-tools"], schematicText: "" } })).toEqual({
      extensions: ["siderolabs/iscsi-tools"],
    });
    expect(imageOf({ schematic: "" })).toBeUndefined();
  });

  test("takes the root of GitOps from the objects of Flux", () => {
    const source = { spec: { url: "https://git.example/a.git", ref: { branch: "main" }, interval: "1m0s" } };
    const root = { spec: { path: "clusters/home" } };
    expect(fluxOf(source, root)).toEqual({
      url: "https://git.example/a.git",
      branch: "main",
      path: "./clusters/home",
      interval: "1m",
    });
    expect(fluxOf(undefined, undefined)).toBeUndefined();
  });
});

describe("the software of a draft (S7.2)", () => {
  const wanted = (chart: string, name: string, values: object = {}): WantedRelease => ({
    ...{ resource: name, component: { type: "", name: "" }, namespace: "kube-system", name, chart },
    ...{ version: "9.9.9", values: { ...values }, unknown: [], inputs: {} },
  });
  const release = (chart: string, name: string, values: object = {}) => ({
    ...{ namespace: "kube-system", name, chart, version: "1.2.3", values: { ...values }, defaults: { mtu: 1 } },
  });
  const look = (...releases: readonly ReturnType<typeof release>[]): KubernetesLook =>
    ({ nodes: [], releases, objects: {} }) as unknown as KubernetesLook;

  test("has the version of each release and the values that differ, and leaves what Helm has not installed to others", () => {
    const kept = keptReleases(
      [wanted("cilium", "cilium", { a: { b: 1, c: 2 } }), wanted("flux2", "flux"), wanted("sealed-secrets", "sealed")],
      look(release("cilium", "cilium", { a: { b: 3, c: 2 }, mtu: 1 }), release("sealed-secrets", "sealed")),
    );
    expect(kept).toEqual({
      cilium: { version: "1.2.3", values: { a: { b: 3 } } },
      flux: { enabled: false },
      sealedSecrets: { version: "1.2.3" },
    });
  });
});
