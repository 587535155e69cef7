import { describe, expect, test } from "@jest/globals";
import { type PlannedUpgrade, upgradeNote } from "../../../../components/upgrade/kubernetes/upgradePreview.ts";

const plan: PlannedUpgrade = {
  from: "1.35.4",
  to: "1.36.1",
  nodes: [
    ...["cp-1", "cp-2", "cp-3"].map((name) => ({ name, role: "controlplane" }) as const),
    ...["w-1", "w-2", "w-3"].map((name) => ({ name, role: "worker" }) as const),
  ],
  parallel: 1,
  seconds: {},
};

describe("S8.3 the preview of a Kubernetes upgrade", () => {
  test("says which components restart on which node, in which order", () => {
    expect(upgradeNote(plan)).toEqual({
      as: "info",
      text: [
        "Kubernetes 1.35.4 -> 1.36.1, without a reboot, in this order; how long a node takes is not known yet",
        "  1. the images are pulled on all nodes",
        "  2. cp-1, cp-2, cp-3, one at a time: kube-apiserver restarts, then kube-controller-manager and kube-scheduler",
        "  3. kubelets restart: cp-1, cp-2, cp-3, then w-1, then w-2, w-3",
        "  4. the manifests of Talos are applied",
      ].join("\n"),
    });
  });

  test("says how many workers change at a time", () => {
    expect(upgradeNote({ ...plan, parallel: "100%" }).text).toContain("then w-1, then w-2, w-3 (2 at a time)");
  });

  test.each([
    [
      "all",
      { "cp-1": 60, "cp-2": 62, "cp-3": 58, "w-1": 20, "w-2": 20, "w-3": 20 },
      "about 4 min, as long as the last time",
    ],
    ["some of each role", { "cp-1": 10, "w-1": 5 }, "about 50 s, as long as the last time"],
    ["those of one role only", { "cp-1": 10 }, "how long a node takes is not known yet"],
  ])("says how long it takes from what nodes took: %s", (_what, seconds, words) => {
    expect(upgradeNote({ ...plan, seconds }).text).toContain(words);
  });
});
