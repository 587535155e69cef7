import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { operations as latest } from "../../../components/backup/latestBackup.provider.ts";
import { operations, type StaleNodesInputs } from "../../../components/lifecycle/staleNodes.provider.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { Backups, giveSnapshots } from "../backup/backups.ts";
import { ObjectsApi } from "../kubernetes/objectsApi.ts";
import { FakeCluster } from "../talos/fakeCluster.ts";
import { credentials, FakeWorld, raise, unavailable } from "../talos/fakeNodes.ts";

const nodes = "/api/v1/nodes";
const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const attachments = "/apis/storage.k8s.io/v1/volumeattachments";

describe("the Nodes of a restored cluster (S7.4)", () => {
  let backups: Backups;
  let fake: FakeCluster;
  let api: ObjectsApi;
  beforeEach(async () => {
    backups = await Backups.make();
    const former = new FakeWorld();
    giveSnapshots(former.addControlPlanes(["cp-1"]));
    former.node("cp-1").uuid = "old";
    const asked = [{ name: "cp-1", role: "controlplane", address: "cp-1", talosAddress: "cp-1" }];
    await latest.create(
      { nodes: asked, credentials, backup: backups.policy, maxAgeHours: 168, row: "the urn" },
      former,
    );
    fake = await FakeCluster.start();
    api = new ObjectsApi(fake.api);
    fake.addControlPlanes(["cp-1"]);
    fake.node("cp-1").uuid = "new";
  });
  afterEach(async () => {
    backups.remove();
    await fake.api.stop();
  });

  const inputs = (more: Partial<StaleNodesInputs> = {}): StaleNodesInputs => ({
    nodes: [{ name: "cp-1", talosAddress: "cp-1" }],
    plan: { from: "latest", place: backups.policy.place, cluster: backups.policy.cluster },
    ...{ credentials, kubeconfig: fake.api.kubeconfig(), deadlineSeconds: 20, row: "the urn" },
    restored: { name: readdirSync(join(backups.folder, "home"))[0] ?? "", takenAt: "", revision: 1 },
    ...more,
  });
  const put = (name: string, systemUUID: string, creationTimestamp = "2020-01-01T00:00:00Z") => {
    api.put(nodes, { metadata: { name, creationTimestamp }, status: { nodeInfo: { systemUUID } } } as never);
    api.put(leases, { metadata: { name }, spec: { renewTime: "2020-01-01T00:00:00Z" } } as never);
  };

  test("are deleted with what belongs to them, one line each, and their kubelets are restarted to register again", async () => {
    put("cp-1", "new");
    api.put(attachments, { metadata: { name: "csi-1" }, spec: { nodeName: "cp-1" } } as never);
    await operations.create(inputs({ restored: undefined }), fake.inRealTime());
    expect(api.paths).toEqual([]);
    expect(fake.noted).toEqual([
      "deleted Node cp-1: it is of a machine that is gone, whose machine UUID was old; now it is new",
      "deleted VolumeAttachment of csi-1 to cp-1: that machine is gone",
      "deleted Lease of the node cp-1",
    ]);
    expect(fake.node("cp-1").calls).toEqual(["restart kubelet"]);
  });

  test("are kept where they are those of the environment's machines, or not known to be others", async () => {
    fake.node("cp-1").uuid = "old";
    put("cp-1", "old");
    await operations.create(inputs(), fake.inRealTime());
    fake.node("cp-1").fail("list", raise(unavailable()));
    await operations.create(inputs(), fake.inRealTime());
    expect([fake.noted, fake.node("cp-1").calls]).toEqual([[], []]);
  });

  test("are deleted where the environment does not list them and their lease is not renewed, in a cluster that was restored", async () => {
    fake.node("cp-1").uuid = "old";
    put("cp-1", "old");
    put("gone-1", "a");
    put("alive-1", "b");
    await operations.create(inputs({ restored: undefined }), fake.inRealTime());
    expect(fake.noted).toEqual([]);
    // The time in which a kubelet renews its lease passes at once, that of calls as it is.
    const after = (milliseconds: number, call: () => void) => {
      if (milliseconds < 45_000) return systemClock.after(milliseconds, call);
      api.put(leases, { metadata: { name: "alive-1" }, spec: { renewTime: "2020-01-01T00:00:10Z" } } as never);
      return systemClock.after(0, call);
    };
    await operations.create(inputs(), Object.assign(fake.inRealTime(), { clock: { now: systemClock.now, after } }));
    expect(api.paths.filter((path) => path.startsWith(nodes))).toEqual([`${nodes}/alive-1`, `${nodes}/cp-1`]);
  });

  test("S1.6 are asked for again while the API does not answer", async () => {
    put("cp-1", "new");
    let refusals = 2;
    api.refuse = () => (refusals-- > 0 ? [503, "starting"] : undefined);
    await operations.create(inputs(), fake.inRealTime());
    expect(api.get(`${nodes}/cp-1`)).toBeUndefined();
    expect(fake.said.join("\n")).toContain("retrying");
  });

  test("are looked for again when machines or the restore change, and else only recorded", () => {
    const change = (news: StaleNodesInputs) => operations.difference(inputs(), news).kind;
    expect(change(inputs())).toBe("none");
    expect(change(inputs({ kubeconfig: "other" }))).toBe("record");
    expect(change(inputs({ restored: undefined }))).toBe("update");
    expect(change(inputs({ nodes: [] }))).toBe("update");
  });
});
