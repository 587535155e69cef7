import { describe, expect, test } from "@jest/globals";
import { kubeletPatches } from "../../../../../components/talos/config/patches/kubelet.ts";
import { machineInput, talosVersions } from "../../machineInput.ts";

describe.each(talosVersions)("the kubelet's patch (S2.1) on Talos %s", (version) => {
  test("sets ImageVolume, parallel pulls and the node network by default", () => {
    expect(kubeletPatches(machineInput(version))).toStrictEqual([
      {
        machine: {
          kubelet: {
            extraArgs: { "feature-gates": "ImageVolume=true" },
            extraConfig: { serializeImagePulls: false },
            nodeIP: { validSubnets: ["10.0.0.0/16"] },
          },
        },
      },
    ]);
  });

  test("sets neither feature gates nor image pulls if they are off (S2.2)", () => {
    const input = machineInput(version, { machine: { kubelet: { featureGates: {}, serializeImagePulls: true } } });
    expect(kubeletPatches(input)).toStrictEqual([
      { machine: { kubelet: { nodeIP: { validSubnets: ["10.0.0.0/16"] } } } },
    ]);
  });
});
