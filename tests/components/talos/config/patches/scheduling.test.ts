import { describe, expect, test } from "@jest/globals";
import { schedulingPatches } from "../../../../../components/talos/config/patches/scheduling.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const scheduled = [
  {
    machine: { nodeLabels: { "node.kubernetes.io/exclude-from-external-load-balancers": { $patch: "delete" } } },
    cluster: { allowSchedulingOnControlPlanes: true },
  },
];

describe.each(talosVersions)("scheduling on control planes on Talos %s", (version) => {
  test("is off if there are workers, unless it is configured", () => {
    const off = machineInput(version);
    expect(schedulingPatches(off, machineNode(off, "cp-1"))).toStrictEqual([]);
    const on = machineInput(version, { machine: { scheduleOnControlPlanes: true } });
    expect(schedulingPatches(on, machineNode(on, "cp-1"))).toStrictEqual(scheduled);
    expect(schedulingPatches(on, machineNode(on, "w-1"))).toStrictEqual([]);
  });

  test("is on if there is no worker, unless it is configured", () => {
    const nodes = [{ name: "one", role: "controlplane", address: "10.0.0.11" }];
    const on = machineInput(version, { nodes });
    expect(schedulingPatches(on, machineNode(on, "one"))).toStrictEqual(scheduled);
    const off = machineInput(version, { nodes, machine: { scheduleOnControlPlanes: false } });
    expect(schedulingPatches(off, machineNode(off, "one"))).toStrictEqual([]);
  });
});
