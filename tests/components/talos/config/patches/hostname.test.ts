import { describe, expect, test } from "@jest/globals";
import { hostnamePatches } from "../../../../../components/talos/config/patches/hostname.ts";
import { documentVersions, machineInput, machineNode } from "../../machineInput.ts";

describe("the hostname (S2.1, S4.2)", () => {
  test.each(documentVersions)("is a document on Talos %s, with the generator's automatic name off", (version) => {
    const input = machineInput(version);
    expect(hostnamePatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname: "cp-1" },
    ]);
  });

  test("is a field on Talos 1.11", () => {
    const input = machineInput("1.11.6");
    expect(hostnamePatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { machine: { network: { hostname: "cp-1" } } },
    ]);
  });
});
