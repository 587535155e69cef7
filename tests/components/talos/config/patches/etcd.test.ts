import { describe, expect, test } from "@jest/globals";
import { etcdPatches } from "../../../../../components/talos/config/patches/etcd.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

describe.each(talosVersions)("etcd's patch (S1.7) on Talos %s", (version) => {
  const input = machineInput(version);

  test("advertises only the address in the node network", () => {
    expect(etcdPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { cluster: { etcd: { advertisedSubnets: ["10.0.0.0/16"] } } },
    ]);
  });

  test("is absent on a worker", () => {
    expect(etcdPatches(input, machineNode(input, "w-1"))).toStrictEqual([]);
  });
});
