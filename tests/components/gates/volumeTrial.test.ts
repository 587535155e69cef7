import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../components/gates/clock.ts";
import { volumeTrial } from "../../../components/gates/volumeTrial.ts";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import { VolumeProbeObjects } from "../../../components/kubernetes/volumeProbe.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { credentials, verdicts } from "./kubernetesLooks.ts";

const probe = { storageClass: "hcloud-volumes", size: "10Gi", image: "registry.k8s.io/pause:3.10" };
const trial = volumeTrial(credentials, probe);
type Look = Parameters<typeof trial.evidence>[0];
const nothing: Look = { claims: [], volumes: [], pods: [], events: [], unreachable: undefined, used: false };
const named = { name: VolumeProbeObjects.called };
const claim = (phase: string) => ({ metadata: named, status: { phase } });
const volume = { metadata: { name: "pvc-1" }, spec: { claimRef: named } };
const judge = (look: Partial<Look>) => verdicts(trial.conditions({}), { ...nothing, ...look });

describe("S3.2 the trial of a volume", () => {
  test("waits until the claim is bound, and says in the driver's words why it is not", () => {
    const said = {
      metadata: { name: "said" },
      involvedObject: { kind: "PersistentVolumeClaim", name: named.name },
      type: "Warning",
      reason: "ProvisioningFailed",
      message: "volume limit exceeded",
    };
    expect(judge({ claims: [claim("Pending")], events: [said] })).toMatchObject([
      { kind: "pending", where: "test volume claim", reason: "is Pending: ProvisioningFailed: volume limit exceeded" },
      { kind: "pending", reason: "still there: sluice-volume-probe" },
    ]);
    expect(judge({})).toMatchObject([{ where: "test volume claim", reason: "is not there" }]);
    expect(judge({ refused: "exceeded quota" })).toMatchObject([{ reason: "exceeded quota" }]);
  });

  test("waits until a pod has mounted it, and says why it has not", () => {
    const pod = { metadata: named, status: { phase: "Pending" } };
    expect(judge({ claims: [claim("Bound")] })).toMatchObject([{ where: "test pod", reason: "is not there" }, {}]);
    expect(judge({ claims: [claim("Bound")], pods: [pod] })[0]).toMatchObject({
      where: "test pod",
      reason: expect.stringContaining("is Pending"),
    });
  });

  test("ends when what was made for it is gone again, the volume included", () => {
    expect(judge({ used: true, volumes: [volume] })).toEqual([{ kind: "pending", reason: "still there: pvc-1" }]);
    const others = { metadata: { name: "pvc-2" }, spec: { claimRef: { name: "data" } } };
    expect(judge({ used: true, volumes: [others] })).toEqual([]);
  });
});

describe("the objects of the trial", () => {
  let api: ApiServer;
  let objects: VolumeProbeObjects;
  const { signal } = new AbortController();

  beforeEach(async () => {
    api = new ApiServer();
    await api.start();
    objects = new VolumeProbeObjects(new KubernetesClient(api.kubeconfig(), systemClock), probe);
  });
  afterEach(() => api.stop());

  test("are made, the claim first, also where a run before has made one of them", async () => {
    api.answer = (_, response) => void response.writeHead(api.asked.length === 1 ? 409 : 201).end("{}");
    expect(await objects.make(signal)).toBeUndefined();
    expect(api.asked).toEqual([
      "POST /api/v1/namespaces/kube-system/persistentvolumeclaims",
      "POST /api/v1/namespaces/kube-system/pods",
    ]);
  });

  test("are refused with the API's words", async () => {
    api.answer = (_, response) => void response.writeHead(403).end(JSON.stringify({ message: "exceeded quota" }));
    expect(await objects.make(signal)).toBe("403 exceeded quota");
  });

  test("are removed, but not twice, and nothing is said where they are gone or the API is", async () => {
    api.answer = (_, response) => void response.writeHead(404).end();
    await objects.remove([{ metadata: named }]);
    expect(api.asked.toSorted()).toEqual([
      "DELETE /api/v1/namespaces/kube-system/persistentvolumeclaims/sluice-volume-probe",
      "DELETE /api/v1/namespaces/kube-system/pods/sluice-volume-probe",
    ]);
    await objects.remove([{ metadata: { ...named, deletionTimestamp: "now" } }]);
    await objects.remove([]);
    expect(api.asked).toHaveLength(2);
    await api.stop();
    await expect(objects.remove()).resolves.toBeUndefined();
    await api.start();
  });
});
