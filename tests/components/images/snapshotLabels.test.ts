import { describe, expect, test } from "@jest/globals";
import { labelSelector, snapshotLabels } from "../../../components/images/snapshotLabels.ts";

const schematicId = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

describe("the labels of a snapshot", () => {
  test.each(["1.13.8", "v1.13.8"])("S0.1 cover everything in which images differ: %s", (talosVersion) => {
    expect(snapshotLabels({ talosVersion, schematicId, architecture: "arm64" })).toEqual({
      os: "talos",
      version: "1.13.8",
      schematic: "376567988ad370138ad8b2698212367b",
      "schematic-rest": "8edcb69b5fd68c80be1f2ec7d603b4ba",
      architecture: "arm64",
    });
  });

  test("S0.1 are values that Hetzner accepts, with the complete schematic id", () => {
    const labels = snapshotLabels({ talosVersion: "1.13.8", schematicId, architecture: "amd64" });
    for (const value of Object.values(labels)) expect(value).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,61}[A-Za-z0-9]$/);
    expect(labels.schematic + labels["schematic-rest"]).toBe(schematicId);
  });

  test("S0.1 select the same in any order", () => {
    expect(labelSelector({ version: "1.13.8", os: "talos" })).toBe("os=talos,version=1.13.8");
    expect(labelSelector({ os: "talos", version: "1.13.8" })).toBe("os=talos,version=1.13.8");
  });
});
