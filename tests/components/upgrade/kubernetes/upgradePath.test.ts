import { describe, expect, test } from "@jest/globals";
import type { KubernetesImages } from "../../../../components/talos/config/kubernetesImages.ts";
import {
  hasOlder,
  type LiveNode,
  type UpgradePath,
  upgradePath,
} from "../../../../components/upgrade/kubernetes/upgradePath.ts";
import { imagesOf } from "./fakeKubernetes.ts";

/** A node that runs this version, or a component in another one. */
function node(name: string, version: string, changes: KubernetesImages = {}, talos = "1.13.8"): LiveNode {
  const role = name.startsWith("cp") ? "controlplane" : "worker";
  const images = { ...imagesOf(role, version), ...changes };
  return { name, role, kubernetes: { wanted: images, running: images, talos } };
}
const versions = (path: UpgradePath | undefined) => path && [path.from.text, path.to.text];

describe("S8.3 the path of a Kubernetes upgrade", () => {
  test.each([
    ["nothing to do", [node("cp-1", "1.36.1"), node("w-1", "1.36.1")], undefined],
    ["the next minor version", [node("cp-1", "1.35.4"), node("w-1", "1.35.4")], ["1.35.4", "1.36.1"]],
    ["another patch release", [node("cp-1", "1.36.0")], ["1.36.0", "1.36.1"]],
    ["an earlier patch release", [node("cp-1", "1.36.10")], ["1.36.10", "1.36.1"]],
    ["where an earlier run ended", [node("cp-1", "1.36.1"), node("w-1", "1.35.4")], ["1.35.4", "1.36.1"]],
    ["patch releases as numbers", [node("cp-1", "1.35.10"), node("w-1", "1.35.9")], ["1.35.9", "1.36.1"]],
    [
      "a component in another version",
      [node("cp-1", "1.36.1", { "kube-scheduler": "registry.k8s.io/kube-scheduler:v1.35.4" })],
      ["1.35.4", "1.36.1"],
    ],
    [
      "back, where no kubelet has followed the control planes",
      [node("cp-1", "1.37.0", { kubelet: "ghcr.io/siderolabs/kubelet:v1.36.1" }), node("w-1", "1.36.1")],
      ["1.37.0", "1.36.1"],
    ],
  ] as const)("is judged by the lowest live version: %s", (_what, nodes, path) => {
    expect(versions(upgradePath(nodes, "1.36.1"))).toEqual(path);
  });

  test.each([
    ["two minor versions", [node("cp-1", "1.34.9")], /of cp-1.*runs 1\.34\.9/s],
    ["two minor versions for one kubelet alone", [node("cp-1", "1.35.4"), node("w-2", "1.34.9")], /kubelet of w-2/],
    ["down", [node("cp-1", "1.37.0")], /runs 1\.37\.0, and would run 1\.36\.1/],
    [
      "down where a kubelet has followed its control plane",
      [node("cp-1", "1.37.0"), node("cp-2", "1.37.0", { kubelet: "ghcr.io/siderolabs/kubelet:v1.36.1" })],
      /runs 1\.37\.0/,
    ],
    ["down for one of many", [node("cp-1", "1.35.4"), node("cp-2", "1.37.0")], /of cp-2/],
    [
      "a Talos that does not run it",
      [node("cp-1", "1.35.4"), node("w-1", "1.35.4", {}, "1.12.6")],
      /w-1: Talos 1\.12\.6/,
    ],
  ])("is refused: %s", (_what, nodes, message) => {
    expect(() => upgradePath(nodes, "1.36.1")).toThrow(message);
    expect(() => upgradePath(nodes, "1.36.1")).toThrow(/Nothing was changed/);
  });

  test("ends before it starts where nobody runs anything older", () => {
    expect(hasOlder([node("cp-1", "1.36.1"), node("w-1", "1.37.0")], "1.36.1")).toBe(false);
    expect(hasOlder([node("cp-1", "1.36.1"), node("w-1", "1.36.0")], "1.36.1")).toBe(true);
  });
});
