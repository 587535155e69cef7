import { describe, expect, test } from "@jest/globals";
import { hostDNSPatches } from "../../../../../components/talos/config/patches/hostDNS.ts";
import { machineInput, talosVersions } from "../../machineInput.ts";

function patch(enabled: boolean, forwardKubeDNSToHost: boolean, resolveMemberNames: boolean) {
  return [{ machine: { features: { hostDNS: { enabled, forwardKubeDNSToHost, resolveMemberNames } } } }];
}

describe.each(talosVersions)("hostDNS (S2.1) on Talos %s", (version) => {
  test("is on with forwarding and member names by default", () => {
    expect(hostDNSPatches(machineInput(version))).toStrictEqual(patch(true, true, true));
  });

  test("has a separate switch for each", () => {
    const input = machineInput(version, { machine: { hostDNS: { forwardKubeDNSToHost: false } } });
    expect(hostDNSPatches(input)).toStrictEqual(patch(true, false, true));
  });

  test("is written when it is off, because the generator turns it on", () => {
    const input = machineInput(version, { machine: { hostDNS: { enabled: false } } });
    expect(hostDNSPatches(input)).toStrictEqual(patch(false, false, false));
  });
});
