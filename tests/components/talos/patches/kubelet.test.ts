import { describe, expect, test } from "@jest/globals";
import { kubeletPatches } from "../../../../components/talos/patches/kubelet.ts";
import { machineInput, talosVersions } from "../machineInput.ts";

describe.each(talosVersions)("kubelet (S2.1) on Talos %s", (version) => {
  test("gets ImageVolume, parallel pulls and the node network by default", () => {
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

  test("gets neither gates nor an image pull setting when they are off (S2.2)", () => {
    const input = machineInput(version, { machine: { kubelet: { featureGates: {}, serializeImagePulls: true } } });
    expect(kubeletPatches(input)).toStrictEqual([
      { machine: { kubelet: { nodeIP: { validSubnets: ["10.0.0.0/16"] } } } },
    ]);
  });
});
