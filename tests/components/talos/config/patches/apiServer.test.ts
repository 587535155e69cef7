import { describe, expect, test } from "@jest/globals";
import { apiServerPatches } from "../../../../../components/talos/config/patches/apiServer.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

describe.each(talosVersions)("the API server's patch (S2.1) on Talos %s", (version) => {
  test("sets aggregator routing and the kubelet's feature gates by default", () => {
    const input = machineInput(version, { machine: { kubelet: { featureGates: { ImageVolume: true, A: false } } } });
    expect(apiServerPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      {
        cluster: {
          apiServer: {
            extraArgs: { "enable-aggregator-routing": "true", "feature-gates": "A=false,ImageVolume=true" },
          },
        },
      },
    ]);
  });

  test("uses its own feature gates instead of the kubelet's", () => {
    const input = machineInput(version, {
      machine: { apiServer: { aggregatorRouting: false, featureGates: { ImageVolume: true, Other: true } } },
    });
    expect(apiServerPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { cluster: { apiServer: { extraArgs: { "feature-gates": "ImageVolume=true,Other=true" } } } },
    ]);
  });

  test("adds the VIP and further names to the certificate, except the endpoint, which is always in it (S4.4)", () => {
    const input = machineInput(version, {
      endpoint: "k8s.home.arpa",
      network: { vip: "10.0.0.20" },
      machine: {
        apiServer: { aggregatorRouting: false, featureGates: {}, certSANs: ["k8s.home.arpa", "k8s.example"] },
      },
    });
    expect(apiServerPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { cluster: { apiServer: { certSANs: ["10.0.0.20", "k8s.example"] } } },
    ]);
  });

  test("is absent with everything off, and on a worker (S2.2)", () => {
    const off = machineInput(version, { machine: { apiServer: { aggregatorRouting: false, featureGates: {} } } });
    expect(apiServerPatches(off, machineNode(off, "cp-1"))).toStrictEqual([]);
    const on = machineInput(version, { network: { vip: "10.0.0.20" } });
    expect(apiServerPatches(on, machineNode(on, "w-1"))).toStrictEqual([]);
  });
});
