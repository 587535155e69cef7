import { describe, expect, test } from "@jest/globals";
import { labelsAndTaintsPatches } from "../../../../../components/talos/config/patches/labelsAndTaints.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const labels = { "topology.kubernetes.io/zone": "rack-1" };
const taints = { dedicated: "gpu:NoSchedule", spot: ":PreferNoSchedule" };

describe.each(talosVersions)("node labels and taints on Talos %s", (version) => {
  const input = machineInput(version);

  test("are absent on a node without any (S2.2)", () => {
    expect(labelsAndTaintsPatches(input, machineNode(input, "cp-1"))).toStrictEqual([]);
    expect(labelsAndTaintsPatches(input, machineNode(input, "w-1"))).toStrictEqual([]);
  });

  test("are set by Talos on a control plane", () => {
    expect(labelsAndTaintsPatches(input, machineNode(input, "cp-1", { labels, taints }))).toStrictEqual([
      { machine: { nodeLabels: labels } },
      { machine: { nodeTaints: taints } },
    ]);
  });

  test("are set by the kubelet on a worker, which may not change its taints later", () => {
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
