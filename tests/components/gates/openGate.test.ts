import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../components/gates/clock.ts";
import type { GateProperties } from "../../../components/gates/gateProperties.ts";
import { openGate } from "../../../components/gates/openGate.ts";
import type { KubernetesObject } from "../../../components/kubernetes/objects.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { ObjectsApi } from "../kubernetes/objectsApi.ts";
import { Engine } from "./engine.ts";
import { nodes, recorded } from "./kubernetesLooks.ts";

const collections: Readonly<Record<string, string>> = {
  drivers: "/apis/storage.k8s.io/v1/csidrivers",
  csiNodes: "/apis/storage.k8s.io/v1/csinodes",
  daemonSets: "/apis/apps/v1/namespaces/kube-system/daemonsets",
  deployments: "/apis/apps/v1/namespaces/kube-system/deployments",
  pods: "/api/v1/namespaces/kube-system/pods",
};

describe("S3.2 a gate with a trial", () => {
  const engine = new Engine();
  let api: ApiServer;
  let properties: GateProperties;

  beforeEach(async () => {
    api = new ApiServer();
    await Promise.all([api.start(), engine.start()]);
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
      settings: { deadline: 1, stable: 0.9 },
      triggers: [],
      row: "urn:of:the:gate",
    };
  });
  afterEach(async () => {
    engine.stop();
    await api.stop();
  });

  test("S1.7 gives the trial time of its own where the gate has used up most of it, and tells of all that was waited", async () => {
    const error = await openGate(properties, systemClock).catch((reason: Error) => reason);
    expect(String(error).split("\n")).toEqual([
      "GateFailure: CsiReady did not open within 2 s (SLU-K113: A volume could not be bound)",
      "  waited for a volume to be bound and mounted:",
      "    test volume claim: is not there (for 1 s)",
      expect.stringMatching(/^ {2}What to do: /),
    ]);
  });
});
