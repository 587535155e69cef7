import { describe, expect, test } from "@jest/globals";
import { cloudProviderPatches } from "../../../../components/talos/patches/cloudProvider.ts";
import { machineInput, talosVersions } from "../machineInput.ts";

describe.each(talosVersions)("The cloud's controller (S3.2) on Talos %s", (version) => {
  const patches = (hetzner: object | undefined) =>
    cloudProviderPatches(machineInput(version, hetzner && { platform: "hetzner", hetzner }));

  test("is left to say which server a node is, where it is installed: by default on Hetzner", () => {
    expect(patches({})).toStrictEqual([{ cluster: { externalCloudProvider: { enabled: true } } }]);
  });

  test("is not waited for where it is not installed", () => {
    expect(patches({ cloudControllerManager: { enabled: false } })).toStrictEqual([]);
    expect(patches(undefined)).toStrictEqual([]);
  });
});
