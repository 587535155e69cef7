import { describe, expect, test } from "@jest/globals";
import { Cilium, talosValues } from "../../../components/platform/cilium.ts";
import { title } from "../../support/mocks.ts";
import { recordPlatform, release, releaseType, summary } from "./platformResources.ts";

const versionTitle = "pulumi-nodejs:dynamic/platform:ChartVersion home-cilium-version";
const make = (values: Record<string, unknown>, nodeCount = 5) =>
  recordPlatform((provider) => new Cilium("home-cilium", { version: "1.18.8", nodeCount, values }, { provider }));

describe("the release of Cilium", () => {
  test("S4.6 has the values that Talos needs [C22]", async () => {
    const { resources } = await make({});
    expect(summary(resources).filter(({ type }) => type === releaseType)).toEqual([
      {
        type: releaseType,
        name: "home-cilium-release",
        parent: "sluice:platform:Cilium home-cilium",
        inputs: {
          ...release("cilium", "https://helm.cilium.io", "1.18.8", "cilium", "kube-system"),
          values: talosValues(5),
        },
        dependencies: [versionTitle],
      },
    ]);
  });

  test("S8.3 is changed behind the resource that refuses what Cilium does not support", async () => {
    const versionOf = async (values: Record<string, unknown>) =>
      (await make(values)).resources.find((resource) => title(resource) === versionTitle)?.inputs;
    const inputs = { chart: "cilium", version: "1.18.8", key: "cilium.version" };
    expect(await versionOf({})).toMatchObject(inputs);
    expect(await versionOf({})).not.toHaveProperty("upgradeCompatibility");
    expect(await versionOf({ upgradeCompatibility: "1.17" })).toMatchObject({ upgradeCompatibility: "1.17" });
  });

  test("S4.6 gets its pod ranges from Kubernetes, replaces kube-proxy, and reaches the API through KubePrism", () => {
    expect(talosValues(5)).toMatchObject({
      ipam: { mode: "kubernetes" },
      kubeProxyReplacement: true,
      k8sServiceHost: "localhost",
      k8sServicePort: 7445,
      cgroup: { autoMount: { enabled: false }, hostRoot: "/sys/fs/cgroup" },
    });
  });

  test("S4.6 requests no capability that Talos denies to pods", () => {
    const text = JSON.stringify(talosValues(5));
    expect(text).toContain("SYS_ADMIN");
    expect(text).not.toContain("SYS_MODULE");
  });

  test("has one operator on a single node, because two never share a node", () => {
    expect([1, 2, 5].map((count) => talosValues(count).operator)).toEqual(
      [1, 2, 2].map((replicas) => ({ replicas, rollOutPods: true })),
    );
  });

  test("is merged with the environment's own values, which win", async () => {
    const { resources } = await make({ cgroup: { hostRoot: "/other" }, hubble: { enabled: false } });
    expect(resources.find(({ type }) => type === releaseType)?.inputs).toMatchObject({
      values: { cgroup: { autoMount: { enabled: false }, hostRoot: "/other" }, hubble: { enabled: false } },
    });
  });
});
