import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { componentEffect } from "../../../../components/talos/config/componentChanges.ts";

const base = { machine: { type: "controlplane" }, cluster: {} };

describe("S5.4 what a change does to the components of a control plane", () => {
  test.each([
    ["none", { machine: { type: "controlplane", sysctls: { a: "1" } }, cluster: {} }],
    ["none", { machine: { type: "controlplane", nodeLabels: { a: "b" } }, cluster: {} }],
    ["some", { machine: { type: "controlplane", certSANs: ["k8s.example.org"] }, cluster: {} }],
    ["some", { machine: { type: "controlplane", kubelet: { extraArgs: { v: "2" } } }, cluster: {} }],
    ["some", { ...base, cluster: { network: { dnsDomain: "home.lan" } } }],
    ["restart", { ...base, cluster: { apiServer: { certSANs: ["k8s.example.org"] } } }],
    ["restart", { ...base, cluster: { controllerManager: { extraArgs: { v: "2" } } } }],
    [
      "restart",
      { machine: { type: "controlplane", sysctls: { a: "1" } }, cluster: { scheduler: { image: "a:v1.36.0" } } },
    ],
  ] as const)("is %s of %j", (effect, changed) => {
    expect(componentEffect(stringify(base), stringify(changed))).toBe(effect);
  });

  test("may be anything of another document, and of a config that cannot be read", () => {
    const link = "---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 1400\n";
    expect(componentEffect(stringify(base), `${stringify(base)}${link}`)).toBe("some");
    expect(componentEffect(stringify(base), "machine: [unclosed")).toBe("some");
  });
});
