import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type GateProperties, operations } from "../../../components/gates/gate.provider.ts";
import type { KubernetesObject } from "../../../components/kubernetes/objects.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { ObjectsApi } from "../kubernetes/objectsApi.ts";
import { nodes, recorded } from "./kubernetesLooks.ts";

jest.setTimeout(30_000);

const collections: Readonly<Record<string, string>> = {
  drivers: "/apis/storage.k8s.io/v1/csidrivers",
  csiNodes: "/apis/storage.k8s.io/v1/csinodes",
  daemonSets: "/apis/apps/v1/namespaces/kube-system/daemonsets",
  deployments: "/apis/apps/v1/namespaces/kube-system/deployments",
  pods: "/api/v1/namespaces/kube-system/pods",
};

const context = { clock: systemClock, random: Math.random, report: () => undefined, note: async () => undefined };

describe("S3.2 a gate with a trial", () => {
  let api: ApiServer;
  let properties: GateProperties;

  beforeEach(async () => {
    api = new ApiServer();
    await api.start();
    const cluster = new ObjectsApi(api);
    const csi = recorded<Record<string, readonly KubernetesObject[]>>("csi");
    for (const [kind, collection] of Object.entries(collections))
      for (const object of csi[kind] ?? []) cluster.put(collection, object);
    const names = { driver: "csi.hetzner.cloud", controller: "hcloud-csi-controller", nodePlugin: "hcloud-csi-node" };
    const probe = { storageClass: "hcloud-volumes", size: "10Gi", image: "pause" };
    properties = {
      gate: "CsiReady",
      inputs: { ...names, namespace: "kube-system", nodes, probe },
      credentials: { kubeconfig: api.kubeconfig() },
      // Real time, as the server is real: however busy the machine is, the gate's own wait ends clearly within its deadline.
      settings: { deadlineSeconds: 3, stableSeconds: 1, isStrict: true },
      triggers: [],
      row: "urn:of:the:gate",
    };
  });
  afterEach(() => api.stop());

  test("S1.7 gives the trial a minimum of time if the gate has used most of it, and reports the total wait", async () => {
    const error = await operations.create(properties, context).catch((reason: Error) => reason);
    const [title = "", ...lines] = String(error).split("\n");
    const [, seconds] = /^SluiceError: SLU-K113 .*: gate CsiReady did not open within (\d+) s$/.exec(title) ?? [];
    // The gate's second and the trial's minimum of three, if less than two are left.
    expect(Number(seconds)).toBeGreaterThanOrEqual(4);
    expect(lines).toEqual([
      "  expected:   a volume to be bound and mounted",
      expect.stringMatching(/^ {2}seen: {7}test volume claim: is missing \(for \d s\)$/),
      expect.stringMatching(/^ {2}cause: {6}./),
      expect.stringMatching(/^ {2}what to do: ./),
    ]);
  });
});
