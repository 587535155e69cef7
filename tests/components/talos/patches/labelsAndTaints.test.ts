import { describe, expect, test } from "@jest/globals";
import { labelsAndTaintsPatches } from "../../../../components/talos/patches/labelsAndTaints.ts";
import { machineInput, machineNode, talosVersions } from "../machineInput.ts";

const labels = { "topology.kubernetes.io/zone": "rack-1" };
const taints = { dedicated: "gpu:NoSchedule", spot: ":PreferNoSchedule" };

describe.each(talosVersions)("node labels and taints on Talos %s", (version) => {
  const input = machineInput(version);

  test("a node without them has no patch (S2.2)", () => {
    expect(labelsAndTaintsPatches(input, machineNode(input, "cp-1"))).toStrictEqual([]);
    expect(labelsAndTaintsPatches(input, machineNode(input, "w-1"))).toStrictEqual([]);
  });

  test("Talos itself labels and taints a control plane", () => {
    expect(labelsAndTaintsPatches(input, machineNode(input, "cp-1", { labels, taints }))).toStrictEqual([
      { machine: { nodeLabels: labels } },
      { machine: { nodeTaints: taints } },
    ]);
  });

  test("a worker registers with its taints, which it may not change later", () => {
    expect(labelsAndTaintsPatches(input, machineNode(input, "w-1", { labels, taints }))).toStrictEqual([
      { machine: { nodeLabels: labels } },
      {
        machine: {
          kubelet: {
            extraConfig: {
              registerWithTaints: [
                { key: "dedicated", value: "gpu", effect: "NoSchedule" },
                { key: "spot", effect: "PreferNoSchedule" },
              ],
            },
          },
        },
      },
    ]);
  });
});
