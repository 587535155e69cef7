import { describe, expect, test } from "@jest/globals";
import { type StorageObjects, storageFaults } from "../../../components/upgrade/storageHealth.ts";

const none: StorageObjects = { attachments: [], longhorn: [], ceph: [] };
const faults = (objects: Partial<StorageObjects>) => Object.fromEntries(storageFaults({ ...none, ...objects }));
const attachment = (status: object, more: object = {}) => ({
  metadata: { name: "csi-1", ...more },
  spec: { nodeName: "w-1", attacher: "csi.example.org" },
  status,
});
const longhorn = (robustness: string, state = "attached") => ({
  metadata: { name: "pvc-1", namespace: "longhorn-system" },
  status: { state, robustness },
});
const ceph = (health: string, details?: Record<string, { message: string }>) => ({
  metadata: { name: "rook-ceph", namespace: "rook-ceph" },
  status: { ceph: { health, ...(details && { details }) } },
});

describe("S8.3 the volumes of a cluster", () => {
  test("are settled if every one is attached, has all its replicas, and Ceph is healthy", () => {
    expect(
      faults({
        attachments: [attachment({ attached: true })],
        longhorn: [longhorn("healthy")],
        ceph: [ceph("HEALTH_OK")],
      }),
    ).toEqual({});
  });

  test.each<[string, Partial<StorageObjects>, object]>([
    [
      "one is not attached yet",
      { attachments: [attachment({ attached: false })] },
      { "csi-1": "a volume of csi.example.org on w-1 is not attached yet" },
    ],
    [
      "one is being detached",
      { attachments: [attachment({ attached: true }, { deletionTimestamp: "now" })] },
      { "csi-1": "a volume of csi.example.org on w-1 is being detached" },
    ],
    [
      "one cannot be attached",
      { attachments: [attachment({ attached: false, attachError: { message: "no such volume\nstack" } })] },
      { "csi-1": "a volume of csi.example.org on w-1: no such volume" },
    ],
    [
      "one cannot be detached",
      { attachments: [attachment({ attached: true, detachError: { message: "busy" } })] },
      { "csi-1": "a volume of csi.example.org on w-1: busy" },
    ],
    [
      "Longhorn rebuilds a replica",
      { longhorn: [longhorn("degraded")] },
      { "longhorn-system/pvc-1": "Longhorn volume pvc-1 is degraded, attached" },
    ],
    [
      "Longhorn has no replica",
      { longhorn: [longhorn("faulted", "detached")] },
      { "longhorn-system/pvc-1": "Longhorn volume pvc-1 is faulted, detached" },
    ],
    [
      "Ceph misses an OSD",
      { ceph: [ceph("HEALTH_WARN", { OSD_DOWN: { message: "1 osds down" }, AUTH_X: { message: "other" } })] },
      { "rook-ceph/rook-ceph": "Ceph cluster rook-ceph is HEALTH_WARN: 1 osds down" },
    ],
    [
      "Ceph has an error",
      { ceph: [ceph("HEALTH_ERR", { MDS_ALL_DOWN: { message: "no MDS" } })] },
      { "rook-ceph/rook-ceph": "Ceph cluster rook-ceph is HEALTH_ERR: no MDS" },
    ],
    [
      "Ceph warns without a reason",
      { ceph: [ceph("HEALTH_WARN")] },
      { "rook-ceph/rook-ceph": "Ceph cluster rook-ceph is HEALTH_WARN" },
    ],
  ])("are not settled while %s", (_, objects, expected) => {
    expect(faults(objects)).toEqual(expected);
  });

  test.each<[string, Partial<StorageObjects>]>([
    ["a volume of Longhorn that nobody uses", { longhorn: [longhorn("unknown", "detached")] }],
    ["a warning of Ceph that costs no data", { ceph: [ceph("HEALTH_WARN", { MON_CLOCK_SKEW: { message: "skew" } })] }],
    ["a Ceph cluster that has no status yet", { ceph: [{ metadata: { name: "new" } }] }],
  ])("do not wait for %s", (_, objects) => {
    expect(faults(objects)).toEqual({});
  });
});
