import { describe, expect, test } from "@jest/globals";
import { cloudProviderPatches } from "../../../../../components/talos/config/patches/cloudProvider.ts";
import { machineInput, talosVersions } from "../../machineInput.ts";

describe.each(talosVersions)("the cloud controller's patch (S3.2) on Talos %s", (version) => {
  const patches = (hetzner: object | undefined) =>
    cloudProviderPatches(machineInput(version, hetzner && { platform: "hetzner", hetzner }));

  test("lets an installed cloud controller initialize nodes: by default at Hetzner", () => {
    expect(patches({})).toStrictEqual([{ cluster: { externalCloudProvider: { enabled: true } } }]);
  });

  test("is absent if no cloud controller is installed", () => {
    expect(patches({ cloudControllerManager: { enabled: false } })).toStrictEqual([]);
    expect(patches(undefined)).toStrictEqual([]);
  });
});
