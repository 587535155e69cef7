import { describe, expect, test } from "@jest/globals";
import {
  type CurrentMachine,
  type NodeObjects,
  type SnapshotFacts,
  staleObjects,
  unlisted,
} from "../../../components/lifecycle/staleJudgement.ts";

const before = "2026-11-20T05:00:00Z";
const after = "2026-11-20T07:00:00Z";
const snapshot = (uuids: Readonly<Record<string, string>> = {}): SnapshotFacts => ({
  takenAt: "2026-11-20T06:00:00.000Z",
  uuids,
});
const node = (name: string, { uuid = "", providerID = "", creationTimestamp = before } = {}) => ({
  metadata: { name, creationTimestamp },
  spec: { providerID },
  status: { nodeInfo: { machineID: "", systemUUID: uuid, kubeletVersion: "" } },
});
const attachment = (nodeName: string, more = {}) => ({
  metadata: { name: `csi-${nodeName}`, ...more },
  spec: { nodeName, source: { persistentVolumeName: "pvc-1" } },
});
const named = (name: string) => ({ metadata: { name } });
const there = (objects: Partial<NodeObjects>): NodeObjects => ({
  ...{ nodes: [], attachments: [], leases: [], csiNodes: [], ciliumNodes: [] },
  ...objects,
});
const found = (
  objects: Partial<NodeObjects>,
  machines: readonly CurrentMachine[],
  facts?: SnapshotFacts,
  silent?: string[],
) => staleObjects(there(objects), machines, facts, silent);

describe("the Node of a restored cluster (S7.4)", () => {
  test.each([
    [
      "is that of its machine",
      node("w-1", { uuid: "A", providerID: "hcloud://1" }),
      { uuid: "a", providerId: "hcloud://1" },
    ],
    ["has no provider id yet", node("w-1", { uuid: "a" }), { uuid: "a", providerId: "hcloud://1" }],
    ["is of a machine that does not answer", node("w-1", { uuid: "a" }), {}],
  ])("is kept where it %s", (_, one, machine) => {
    const own = [named("w-1")];
    const all = { nodes: [one], attachments: [attachment("w-1")], leases: own, csiNodes: own, ciliumNodes: own };
    expect(found(all, [{ name: "w-1", ...machine }], snapshot())).toEqual({ objects: [], unregistered: [] });
  });

  test("is deleted where its provider id is that of another machine, with all that belongs to it [C36]", () => {
    const all = {
      nodes: [node("cp-1", { providerID: "hcloud://1" })],
      attachments: [attachment("cp-1"), attachment("w-1")],
      leases: [named("cp-1"), named("w-1")],
      csiNodes: [named("cp-1"), named("w-1")],
      ciliumNodes: [named("cp-1")],
    };
    const machines = [{ name: "cp-1", providerId: "hcloud://9" }];
    expect(found({ ...all, nodes: [...all.nodes, node("w-1")] }, machines)).toEqual({
      objects: [
        {
          path: "/api/v1/nodes/cp-1",
          words: "Node cp-1: it is of a machine that is gone, whose provider id was hcloud://1; now it is hcloud://9",
        },
        {
          path: "/apis/storage.k8s.io/v1/volumeattachments/csi-cp-1",
          words: "VolumeAttachment of pvc-1 to cp-1: that machine is gone",
        },
        {
          path: "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/cp-1",
          words: "Lease of the node cp-1",
        },
        { path: "/apis/storage.k8s.io/v1/csinodes/cp-1", words: "CSINode cp-1" },
        { path: "/apis/cilium.io/v2/ciliumnodes/cp-1", words: "CiliumNode cp-1" },
      ],
      unregistered: ["cp-1"],
    });
  });

  test("is deleted where the machine's UUID is another one, also if the kubelet of the new machine has written its own", () => {
    const machines = [{ name: "cp-1", uuid: "new" }];
    expect(found({ nodes: [node("cp-1", { uuid: "old" })] }, machines).unregistered).toEqual(["cp-1"]);
    const taken = node("cp-1", { uuid: "new" });
    expect(found({ nodes: [taken] }, machines, snapshot({ "cp-1": "old" })).unregistered).toEqual(["cp-1"]);
    expect(found({ nodes: [taken] }, machines, snapshot({ "cp-1": "NEW" })).unregistered).toEqual([]);
  });

  test("is kept where it was registered after the backup, whatever the backup says of that name", () => {
    const fresh = node("cp-1", { uuid: "new", creationTimestamp: after });
    expect(
      found({ nodes: [fresh] }, [{ name: "cp-1", uuid: "new" }], snapshot({ "cp-1": "old" })).unregistered,
    ).toEqual([]);
  });

  test("is kept where the environment does not list it, unless its machine gives no sign of life", () => {
    const all = { nodes: [node("old-1"), node("new-1", { creationTimestamp: after })] };
    expect(unlisted(there(all), [], snapshot())).toEqual(["old-1"]);
    expect(unlisted(there(all), [], undefined)).toEqual([]);
    expect(found(all, [], snapshot()).objects).toEqual([]);
    expect(found(all, [], snapshot(), ["old-1"]).objects).toEqual([
      {
        path: "/api/v1/nodes/old-1",
        words: "Node old-1: its machine is not in the environment, and does not renew its lease",
      },
    ]);
  });

  test("is missing where others have deleted it: its kubelet is restarted, and what is left of it goes", () => {
    const all = { attachments: [attachment("cp-1"), attachment("w-9", { deletionTimestamp: after })] };
    expect(found(all, [{ name: "cp-1" }])).toMatchObject({
      objects: [{ words: "VolumeAttachment of pvc-1 to cp-1: that machine is gone" }],
      unregistered: ["cp-1"],
    });
  });
});
