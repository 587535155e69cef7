import { describe, expect, test } from "@jest/globals";
import { ciliumHostDNSPatches } from "../../../../../components/talos/config/patches/ciliumHostDNS.ts";
import { documentVersions, machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const field = [{ machine: { network: { interfaces: [{ interface: "lo", addresses: ["169.254.116.108/32"] }] } } }];
const document = [
  { apiVersion: "v1alpha1", kind: "LinkConfig", name: "lo", addresses: [{ address: "169.254.116.108/32" }] },
];

function patches(version: string, config: Readonly<Record<string, unknown>>, changes = {}) {
  const input = machineInput(version, config);
  return ciliumHostDNSPatches(input, machineNode(input, "w-1", changes));
}

describe("the address on lo for Cilium (S2.1)", () => {
  test.each(documentVersions)("is a document on Talos %s", (version) => {
    expect(patches(version, {})).toStrictEqual(document);
    expect(patches(version, { platform: "hetzner" }, { mac: undefined })).toStrictEqual(document);
  });

  test.each(documentVersions)("is a field on Talos %s if a document would turn the NIC's DHCP off", (version) => {
    expect(patches(version, { platform: "existing" }, { mac: undefined })).toStrictEqual(field);
  });

  test("is a field on Talos 1.11", () => {
    expect(patches("1.11.6", {})).toStrictEqual(field);
  });

  test.each(talosVersions)(
    "follows the forwarding of kube-dns on Talos %s unless its own key is set (S2.2)",
    (version) => {
      expect(patches(version, { machine: { hostDNS: { forwardKubeDNSToHost: false } } })).toStrictEqual([]);
      expect(patches(version, { machine: { hostDNS: { enabled: false } } })).toStrictEqual([]);
      expect(patches(version, { machine: { ciliumHostDNS: false } })).toStrictEqual([]);
      expect(patches(version, { machine: { ciliumHostDNS: true, hostDNS: { enabled: false } } })).toHaveLength(1);
    },
  );
});
