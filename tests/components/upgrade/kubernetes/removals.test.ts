import { describe, expect, test } from "@jest/globals";
import { removedResources, removedSettings } from "../../../../components/upgrade/kubernetes/removals.ts";

const settings = (...args: string[]) => ({ component: "kube-apiserver", args: ["kube-apiserver", ...args] });

describe("S8.3 what a release of Kubernetes removed", () => {
  test.each([
    [
      "a feature gate",
      settings("--feature-gates=MemoryManager=true,KubeletPSI=true"),
      ["feature gate MemoryManager (removed in 1.36)"],
    ],
    [
      "a gate in a second argument",
      settings("--feature-gates=KubeletPSI=true", "--feature-gates=TopologyAwareHints=false"),
      ["feature gate TopologyAwareHints (removed in 1.36)"],
    ],
    [
      "a gate that is not in the arguments",
      { component: "kubelet", args: [], gates: ["MemoryManager"] },
      ["feature gate MemoryManager (removed in 1.36)"],
    ],
    ["a name that only begins with that of a gate", settings("--feature-gates=MemoryManagerPlus=true"), []],
    ["the value of another argument", settings("--other=MemoryManager"), []],
  ])("is found in the settings: %s", (_what, found, removed) => {
    expect(removedSettings(found, 35, 36)).toEqual(removed);
  });

  test("is found by component", () => {
    const args = ["--pod-infra-container-image=pause:3"];
    expect(removedSettings({ component: "kubelet", args }, 34, 35)).toEqual([
      "flag --pod-infra-container-image (removed in 1.35)",
    ]);
    expect(removedSettings({ component: "kube-apiserver", args }, 34, 35)).toEqual([]);
  });

  test("is found among the admission plugins", () => {
    const found = settings("--enable-admission-plugins=NodeRestriction,PodGroupWorkloadExists");
    expect(removedSettings(found, 36, 37)).toEqual(["admission plugin PodGroupWorkloadExists (removed in 1.37)"]);
  });

  test("does not count if it was removed before, or will be later", () => {
    const found = settings("--feature-gates=MemoryManager=true");
    expect(removedSettings(found, 36, 37)).toEqual([]);
    expect(removedSettings(found, 34, 35)).toEqual([]);
    expect(removedSettings(found, 35, 35)).toEqual([]);
  });

  test("has resources too", () => {
    expect(removedResources(36, 37)).toContainEqual({
      name: "workloads.v1alpha2.scheduling.k8s.io",
      removedIn: "1.37",
    });
    expect(removedResources(35, 36)).toEqual([]);
  });
});
