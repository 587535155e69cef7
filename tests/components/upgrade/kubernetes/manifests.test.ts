import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ClusterAccess } from "../../../../components/upgrade/kubernetes/clusterAccess.ts";
import { applyManifests, inOrder, type Manifest } from "../../../../components/upgrade/kubernetes/manifests.ts";
import { systemClock } from "../../../../components/waiting/clock.ts";
import { ApiServer } from "../../kubernetes/apiServer.ts";
import { credentials, FakeWorld, failure } from "../../talos/fakeNodes.ts";

const object = (kind: string, name: string, more: object = {}): Manifest => ({
  apiVersion: kind === "Deployment" ? "apps/v1" : "v1",
  kind,
  metadata: { name, ...(kind === "Namespace" ? {} : { namespace: "kube-system" }) },
  ...more,
});
const resources: Readonly<Record<string, readonly object[]>> = {
  "/api/v1": [
    { name: "configmaps", kind: "ConfigMap", namespaced: true },
    { name: "secrets", kind: "Secret", namespaced: true },
    { name: "namespaces", kind: "Namespace", namespaced: false },
    { name: "namespaces/status", kind: "Namespace", namespaced: false },
  ],
  "/apis/apps/v1": [{ name: "deployments", kind: "Deployment", namespaced: true }],
};

interface Applied {
  readonly path: string;
  readonly query: string;
  readonly type: string | undefined;
  readonly body: Manifest;
}

describe("S8.3 the manifests of Talos", () => {
  let api: ApiServer;
  let world: FakeWorld;
  let applied: Applied[];
  /** What exists, by path. */
  let live: Map<string, { metadata: { resourceVersion: string; annotations?: Record<string, string> } }>;
  /** Answers to server-side applies, by path; the first one is used first. */
  let refusals: Map<string, { readonly status: number; readonly message: string }[]>;

  beforeEach(async () => {
    [api, world, applied, live, refusals] = [new ApiServer(), new FakeWorld(), [], new Map(), new Map()];
    await api.start();
    api.answer = async (request: IncomingMessage, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "https://test");
      const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
      if (resources[pathname] !== undefined) return answer(200, { resources: resources[pathname] });
      const found = live.get(pathname);
      if (request.method === "GET") return found ? answer(200, found) : answer(404, { message: "not found" });
      const body = JSON.parse(await text(request));
      const type = request.headers["content-type"];
      applied.push({ path: pathname, query: searchParams.toString(), type, body });
      const refused = refusals.get(pathname)?.shift();
      if (refused !== undefined) return answer(refused.status, { message: refused.message });
      const isSame = found !== undefined && JSON.stringify(body).includes("unchanged");
      return answer(200, {
        metadata: { ...body.metadata, resourceVersion: isSame ? found.metadata.resourceVersion : "9" },
      });
    };
  });
  afterEach(() => api.stop());

  const apply = async (...objects: readonly Manifest[]) => {
    const node = { name: "cp-1", role: "controlplane", address: "cp-1", talosAddress: "cp-1", identity: {} } as const;
    const limits = { pullSeconds: 1, nodeSeconds: 5, stableSeconds: 0 };
    const context = Object.assign(world, { clock: systemClock });
    world.add("cp-1").runs("").manifests = objects;
    class Access extends ClusterAccess {
      override async kubernetes<T>(call: (objects: never, kubeconfig: string) => Promise<T>): Promise<T> {
        return await call(undefined as never, api.kubeconfig());
      }
    }
    await applyManifests(new Access([node], credentials, limits, context), context);
  };
  const coreDns = object("Deployment", "coredns", { spec: { replicas: 2 } });
  const path = "/apis/apps/v1/namespaces/kube-system/deployments/coredns";

  test("are applied by the server, in the name of Talos, and those that changed are named", async () => {
    live.set("/api/v1/namespaces/kube-system/configmaps/unchanged", { metadata: { resourceVersion: "1" } });
    await apply(coreDns, object("ConfigMap", "unchanged"), object("Namespace", "mine"));
    expect(applied.map(({ path }) => path)).toEqual([
      "/api/v1/namespaces/mine",
      path,
      "/api/v1/namespaces/kube-system/configmaps/unchanged",
    ]);
    expect(applied[1]).toEqual({
      path,
      query: "fieldManager=talos&force=false",
      type: "application/apply-patch+yaml",
      body: coreDns,
    });
    expect(world.noted).toEqual(["2 manifests of Talos changed: Namespace mine, Deployment kube-system/coredns"]);
  });

  test("keep Talos' note of what it owns", async () => {
    const annotations = { "config.k8s.io/owning-inventory": "talos-bootstrap-manifests-inventory", other: "1" };
    live.set(path, { metadata: { resourceVersion: "1", annotations } });
    await apply(coreDns);
    expect(applied[0]?.body.metadata.annotations).toEqual({
      "config.k8s.io/owning-inventory": "talos-bootstrap-manifests-inventory",
    });
  });

  test("overwrite what only Talos has written, under the names that it had", async () => {
    const message =
      'Apply failed with 2 conflicts: conflicts with "machined" using apps/v1:\n- .spec.replicas\nconflicts with "talosctl" using apps/v1:\n- .spec';
    refusals.set(path, [{ status: 409, message }]);
    await apply(coreDns);
    expect(applied.map(({ query }) => query)).toEqual([
      "fieldManager=talos&force=false",
      "fieldManager=talos&force=true",
    ]);
  });

  test("leave what somebody else has changed, and say so", async () => {
    const message = 'Apply failed with 1 conflict: conflict with "helm" using apps/v1: .spec.replicas';
    refusals.set(path, [{ status: 409, message }]);
    await apply(coreDns, object("ConfigMap", "one"));
    expect(applied).toHaveLength(2);
    expect(world.noted.join("\n")).toMatch(
      /Deployment kube-system\/coredns is left as it is, and not as Talos has it: .*conflict with "helm"/,
    );
  });

  test("leave kinds that the cluster does not have", async () => {
    await apply({ ...coreDns, kind: "Thing" });
    expect(world.noted).toEqual([
      "Thing kube-system/coredns is left as it is, and not as Talos has it: the cluster has no kind Thing of apps/v1",
    ]);
  });

  test("that are refused end the upgrade, with the object's name", async () => {
    refusals.set(path, [{ status: 403, message: "forbidden: quota" }]);
    expect(await failure(apply(coreDns))).toMatch(/SLU-K306.*Deployment kube-system\/coredns.*forbidden: quota/s);
  });

  test("show no name of a Secret, which is part of a token", async () => {
    await apply(object("Secret", "bootstrap-token-abcdef"));
    expect(world.noted.join("\n")).toBe("1 manifest of Talos changed: a Secret in kube-system");
  });

  test("begin with namespaces and definitions", () => {
    const kinds = ["Deployment", "CustomResourceDefinition", "Namespace", "ConfigMap"];
    expect(inOrder(kinds.map((kind) => object(kind, "one"))).map(({ kind }) => kind)).toEqual([
      "Namespace",
      "CustomResourceDefinition",
      "Deployment",
      "ConfigMap",
    ]);
  });
});
