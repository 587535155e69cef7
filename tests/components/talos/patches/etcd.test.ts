import { describe, expect, test } from "@jest/globals";
import { etcdPatches } from "../../../../components/talos/patches/etcd.ts";
import { machineInput, machineNode, talosVersions } from "../machineInput.ts";

describe.each(talosVersions)("etcd (S1.7) on Talos %s", (version) => {
  const input = machineInput(version);

  test("advertises its address in the node network only", () => {
    expect(etcdPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { cluster: { etcd: { advertisedSubnets: ["10.0.0.0/16"] } } },
    ]);
  });

  test("has no patch on a worker", () => {
    expect(etcdPatches(input, machineNode(input, "w-1"))).toStrictEqual([]);
  });
});
