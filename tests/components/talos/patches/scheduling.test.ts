import { describe, expect, test } from "@jest/globals";
import { schedulingPatches } from "../../../../components/talos/patches/scheduling.ts";
import { machineInput, machineNode, talosVersions } from "../machineInput.ts";

const scheduled = [
  {
    machine: { nodeLabels: { "node.kubernetes.io/exclude-from-external-load-balancers": { $patch: "delete" } } },
    cluster: { allowSchedulingOnControlPlanes: true },
  },
];

describe.each(talosVersions)("Scheduling on control planes on Talos %s", (version) => {
  test("is off where there are workers, and on when it is asked for", () => {
    const off = machineInput(version);
    expect(schedulingPatches(off, machineNode(off, "cp-1"))).toStrictEqual([]);
    const on = machineInput(version, { machine: { scheduleOnControlPlanes: true } });
    expect(schedulingPatches(on, machineNode(on, "cp-1"))).toStrictEqual(scheduled);
    expect(schedulingPatches(on, machineNode(on, "w-1"))).toStrictEqual([]);
  });

  test("is on where there is no worker, and off when it is asked for", () => {
    const nodes = [{ name: "one", role: "controlplane", address: "10.0.0.11" }];
    const on = machineInput(version, { nodes });
    expect(schedulingPatches(on, machineNode(on, "one"))).toStrictEqual(scheduled);
    const off = machineInput(version, { nodes, machine: { scheduleOnControlPlanes: false } });
    expect(schedulingPatches(off, machineNode(off, "one"))).toStrictEqual([]);
  });
});
