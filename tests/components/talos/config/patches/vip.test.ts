import { describe, expect, test } from "@jest/globals";
import { vipPatches } from "../../../../../components/talos/config/patches/vip.ts";
import { documentVersions, machineInput, machineNode, talosVersions } from "../../machineInput.ts";

function vip(version: string, config: Readonly<Record<string, unknown>>, name = "cp-1", changes = {}) {
  const input = machineInput(version, config);
  return vipPatches(input, machineNode(input, name, changes));
}

describe.each(documentVersions)("VIP (S4.4) on Talos %s", (version) => {
  test("is a document on every control plane, on the link with the node's address", () => {
    const document = { apiVersion: "v1alpha1", kind: "Layer2VIPConfig", name: "10.0.0.20" };
    expect(vip(version, { network: { vip: "10.0.0.20" } })).toStrictEqual([{ ...document, link: "net0" }]);
    expect(vip(version, { network: { vip: "10.0.0.20", vlan: { tag: 20, mode: "trunk" } } })).toStrictEqual([
      { ...document, link: "net0.20" },
    ]);
  });
});

describe.each(talosVersions)("VIP (S4.4) on Talos %s", (version) => {
  test("is absent on workers and if none is set (S2.2)", () => {
    expect(vip(version, { network: { vip: "10.0.0.20" } }, "w-1")).toStrictEqual([]);
    expect(vip(version, {})).toStrictEqual([]);
  });

  test("is absent if kube-vip brings it up", () => {
    const network = { vip: "10.0.0.20", vipBy: "kube-vip" };
    expect(vip(version, { network })).toStrictEqual([]);
    expect(vip(version, { platform: "existing", network }, "cp-1", { mac: undefined })).toStrictEqual([]);
  });

  test("is refused if no NIC can have it", () => {
    const network = { vip: "10.0.0.20" };
    expect(() => vip(version, { platform: "existing", network }, "cp-1", { mac: undefined })).toThrow(
      "node 'cp-1' has no 'mac', by which its NIC is found: it is needed for network.vip",
    );
    expect(() => vip(version, { platform: "hetzner", network })).toThrow("use hetzner.loadBalancer");
  });
});

test("the VIP is a field of the interface on Talos 1.11", () => {
  expect(vip("1.11.6", { network: { vip: "10.0.0.20" } })).toStrictEqual([]);
});
