import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import { failedRecord, recordChanges, settleRecords } from "../../../components/kubernetes/releaseRecords.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "./apiServer.ts";

/** Helm's Secret for a revision of the release `cilium`. */
const revision = (version: number, status: string) => ({
  metadata: {
    name: `sh.helm.release.v1.cilium.v${version}`,
    labels: { owner: "helm", name: "cilium", status, version: `${version}` },
  },
});
const named = (...versions: readonly number[]) => versions.map((version) => `sh.helm.release.v1.cilium.v${version}`);

describe("S5.2 Helm's records that keep a release from being installed or changed", () => {
  const removed = (...versions: readonly number[]) =>
    named(...versions).map((record) => ({ record, change: "removed" }));

  test.each([
    ["an installation that was interrupted", false, [revision(1, "pending-install")], removed(1)],
    ["one that failed, of a release that was never deployed", false, [revision(1, "failed")], removed(1)],
    [
      "a change that was interrupted, not what is deployed",
      true,
      [revision(1, "deployed"), revision(2, "pending-upgrade")],
      removed(2),
    ],
    [
      "the only one, of which a change needs that it failed",
      true,
      [revision(1, "pending-install")],
      named(1).map((record) => ({ record, change: "marked as failed" })),
    ],
    ["none that failed where Helm is to change the release", true, [revision(1, "failed")], []],
    ["none that failed after something was deployed", true, [revision(1, "superseded"), revision(2, "failed")], []],
    ["none of a complete release", false, [revision(1, "superseded"), revision(2, "deployed")], []],
    ["none where there is no record", false, [], []],
  ])("are %s", (_, isInState, secrets, expected) => {
    expect(recordChanges(secrets, { isInState })).toEqual(expected);
  });

  describe("of a release that is deployed and in no state", () => {
    const values = { ipam: { mode: "kubernetes" }, replicas: 1 };
    const deployed = (config: object, status = "deployed") => {
      const release = { name: "cilium", chart: { metadata: { version: "1.18.8" } }, config };
      const encoded = gzipSync(JSON.stringify(release)).toString("base64");
      return { ...revision(1, status), data: { release: Buffer.from(encoded).toString("base64") } };
    };
    const wanted = { version: "1.18.8", values };
    const one = [deployed({ replicas: 1, ipam: { mode: "kubernetes" } })];

    test.each<[string, object[], object, ReturnType<typeof removed>]>([
      ["is removed where it is what is to be installed: a killed run did that", one, { wanted }, removed(1)],
      ["stays with another version of the chart", one, { wanted: { ...wanted, version: "1.19.0" } }, []],
      ["stays with other values", one, { wanted: { ...wanted, values: {} } }, []],
      ["stays where it is not known what is to be installed", one, {}, []],
      [
        "stays where someone has changed it since",
        [deployed(values, "superseded"), revision(2, "deployed")],
        { wanted },
        [],
      ],
    ])("%s", (_, secrets, more, expected) => {
      expect(recordChanges(secrets, { isInState: false, ...more })).toEqual(expected);
      expect(recordChanges(secrets, { isInState: true, ...more })).toEqual([]);
    });
  });

  test("say in Helm's own form that the operation failed, and nothing else about it is changed", () => {
    const release = {
      name: "cilium",
      version: 1,
      info: { status: "pending-install", notes: "x" },
      manifest: "kind: Pod",
    };
    const encoded = gzipSync(JSON.stringify(release)).toString("base64");
    const changed = failedRecord({
      ...revision(1, "pending-install"),
      data: { release: Buffer.from(encoded).toString("base64") },
    });
    const { metadata, data } = changed as { metadata: object; data: { release: string } };
    expect(metadata).toEqual({ labels: { status: "failed" } });
    const decoded = gunzipSync(Buffer.from(Buffer.from(data.release, "base64").toString(), "base64")).toString();
    expect(JSON.parse(decoded)).toEqual({ ...release, info: { status: "failed", notes: "x" } });
  });

  describe("at an API", () => {
    const api = new ApiServer();
    beforeEach(() => api.start());
    afterEach(() => api.stop());

    test("are removed, of this release only", async () => {
      const calls: string[] = [];
      const secrets = "/api/v1/namespaces/kube-system/secrets";
      api.answer = (request, response) => {
        calls.push(`${request.method} ${request.url}`);
        response.end(JSON.stringify({ items: [revision(1, "pending-install")] }));
      };
      const client = new KubernetesClient(api.kubeconfig(), systemClock);
      const { signal } = new AbortController();
      const release = { namespace: "kube-system", name: "cilium", isInState: false };
      expect(await settleRecords(client, release, signal)).toEqual(removed(1));
      expect(calls).toEqual([
        `GET ${secrets}?labelSelector=owner%3Dhelm%2Cname%3Dcilium`,
        `DELETE ${secrets}/sh.helm.release.v1.cilium.v1`,
      ]);
    });
  });
});
