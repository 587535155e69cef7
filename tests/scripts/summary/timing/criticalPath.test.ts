import { describe, expect, test } from "@jest/globals";
import { criticalPath } from "../../../../scripts/summary/timing/criticalPath.ts";
import { facts } from "../runs.ts";

describe("the minimum duration of a run", () => {
  test("is in each part the time of its slowest machine, as if all were started at once", () => {
    const seen = facts(
      "0 cp-1 server initializing",
      "1 w-1 server initializing",
      "1.5 cp-1 api maintenance",
      "3 w-1 api maintenance",
      "5 cp-1 config applied",
      "6 cp-1 service Preparing id=etcd",
      "7 w-1 config applied",
      "7.5 w-1 stage running",
    );
    expect(criticalPath(seen, {})).toBe(2 + 1);
  });

  const bootstrap = [
    "1 cp-1 bootstrap asked",
    "2 cp-1 etcd voter",
    "3 cp-2 etcd voter",
    "3 cp-2 service healthy id=etcd",
    "7 cp-1 pod ready pod=kube-system/kube-apiserver",
    "8 w-1 kubelet registered",
  ];

  test("includes the time from the bootstrap until all nodes have joined, because that needs no other stage", () => {
    expect(criticalPath(facts(...bootstrap, "90 cp-1 etcd voter"), {})).toBe(7);
  });

  test("includes the stability windows, and counts what becomes true meanwhile only once", () => {
    expect(criticalPath(facts(...bootstrap), { Etcd: 4 })).toBe(7);
    expect(criticalPath(facts(...bootstrap), { Etcd: 6 })).toBe(2 + 6);
    expect(criticalPath(facts(...bootstrap), { Etcd: 5, TalosServices: 5, NodesJoined: 1 })).toBe(2 + 5 + 5 + 1);
  });

  test("counts a pod from its start on its node, and NodesReady from the start of Cilium's pod", () => {
    const seen = facts(
      "10 w-1 pod begun pod=kube-system/cilium-",
      "11 w-1 pod begun pod=kube-system/cilium-operator-5cc969b87b-",
      "12 w-1 pod ready pod=kube-system/cilium-",
      "12.5 w-1 pod ready pod=kube-system/cilium-operator-5cc969b87b-",
      "13.5 cluster deployment available deployment=kube-system/cilium-operator",
      "15 w-1 taints gone",
      "20 w-2 pod begun pod=kube-system/hcloud-cloud-controller-manager-8d787d57c-",
      "21 w-1 cloud initialized",
    );
    expect(criticalPath(seen, {})).toBe(5);
    expect(criticalPath(seen, { CiliumReady: 5 })).toBe(2.5 + 5 + 1);
  });

  test("counts GitOps from when Flux is up, because it fetches then", () => {
    const seen = facts(
      "1 cluster deployment available deployment=flux-system/source-controller",
      "3 flux gitrepository ready name=flux-system/flux-system",
      "11 flux kustomization ready name=flux-system/flux-system",
    );
    expect(criticalPath(seen, {})).toBe(10);
  });

  test("counts GitOps from when Flux sees the repository until the root is reconciled", () => {
    const seen = facts(
      "1 flux gitrepository seen name=flux-system/flux-system",
      "3 flux gitrepository ready name=flux-system/flux-system",
      "9 flux kustomization ready name=flux-system/apps",
      "11 flux kustomization ready name=flux-system/flux-system",
    );
    expect(criticalPath(seen, {})).toBe(10);
  });

  test("is zero if nothing was done", () => {
    expect(criticalPath([], {})).toBe(0);
    expect(criticalPath(facts("5 w-1 taints gone", "6 w-1 api maintenance"), {})).toBe(0);
  });
});
