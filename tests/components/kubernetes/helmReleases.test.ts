import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import { deployedReleases } from "../../../components/kubernetes/helmReleases.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "./apiServer.ts";

const server = new ApiServer();
beforeEach(() => server.start());
afterEach(() => server.stop());

test("S7.2 Helm's records of deployed releases have chart, version, values and the chart's own", async () => {
  const release = {
    name: "cilium",
    namespace: "kube-system",
    chart: { metadata: { name: "cilium", version: "1.18.8" }, values: { ipam: { mode: "cluster-pool" } } },
    config: { ipam: { mode: "kubernetes" } },
  };
  const data = Buffer.from(gzipSync(JSON.stringify(release)).toString("base64")).toString("base64");
  server.answer = (_, response) => void response.end(JSON.stringify({ items: [{ data: { release: data } }] }));
  expect(await deployedReleases(new KubernetesClient(server.kubeconfig(), systemClock))).toEqual([
    {
      namespace: "kube-system",
      name: "cilium",
      chart: "cilium",
      version: "1.18.8",
      values: { ipam: { mode: "kubernetes" } },
      defaults: { ipam: { mode: "cluster-pool" } },
    },
  ]);
  expect(server.asked).toEqual(["GET /api/v1/secrets"]);
});
