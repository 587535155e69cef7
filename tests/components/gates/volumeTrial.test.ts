import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { volumeTrial } from "../../../components/gates/volumeTrial.ts";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import type { Pod } from "../../../components/kubernetes/objects.ts";
import { probeName } from "../../../components/kubernetes/volumeProbe.ts";
import { VolumeProbeObjects } from "../../../components/kubernetes/volumeProbeObjects.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { ObjectsApi } from "../kubernetes/objectsApi.ts";
import { credentials, verdicts } from "./kubernetesLooks.ts";
import { runTrial, type TrialOptions } from "./runTrial.ts";

const probe = { storageClass: "hcloud-volumes", size: "10Gi", image: "registry.k8s.io/pause:3.10" };
const trial = volumeTrial(credentials, probe);
type Look = Parameters<typeof trial.evidence>[0];
type Volume = Look["volumes"][number];
type Claim = Look["claims"][number];
const nothing: Look = { claims: [], volumes: [], pods: [], events: [], unreachable: undefined, used: false };
const named = { name: probeName };
const claim = (phase: string) => ({ metadata: named, status: { phase } });
/** As the provisioner makes them, for the claim with that uid. */
const volumeFor = (uid: string, claimRef: object = { ...named, namespace: "kube-system" }): Volume => ({
  metadata: { name: `pvc-${uid}` },
  spec: { claimRef: { ...named, namespace: "kube-system", ...claimRef, uid }, persistentVolumeReclaimPolicy: "Delete" },
});
const judge = (look: Partial<Look>) => verdicts(trial.conditions({}), { ...nothing, ...look });

describe("S3.2 the trial of a volume", () => {
  test("waits until the claim is bound, and reports in the driver's words why it is not", () => {
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
    expect(judge({})).toMatchObject([{ where: "test volume claim", reason: "is missing" }]);
    expect(judge({ trouble: "403 exceeded quota" })).toMatchObject([{ reason: "403 exceeded quota" }]);
  });

  test("waits until a pod has mounted it, and reports why it has not [C29]", () => {
    const pod = { metadata: named, status: { phase: "Pending" } };
    expect(judge({ claims: [claim("Bound")] })).toMatchObject([{ where: "test pod", reason: "does not exist" }, {}]);
    expect(judge({ claims: [claim("Bound")], pods: [pod] })[0]).toMatchObject({
      where: "test pod",
      reason: expect.stringContaining("is Pending"),
    });
  });

  test("ends when everything that it created is deleted again, including the volume", () => {
    expect(judge({ used: true, volumes: [volumeFor("1")] })).toEqual([
      { kind: "pending", reason: "still there: pvc-1" },
    ]);
    expect(judge({ used: true, volumes: [volumeFor("1")], trouble: "503 busy" })).toEqual([
      { kind: "pending", reason: "still there: pvc-1 (503 busy)" },
    ]);
  });

  test("identifies a volume by its claim, and not by the claim's name alone", () => {
    const others = [
      volumeFor("2", { name: "data" }),
      volumeFor("3", { namespace: "default" }),
      // Someone's own, which existed before and bound the claim.
      { ...volumeFor("4"), metadata: { name: "photos" } },
    ];
    expect(judge({ used: true, volumes: others })).toEqual([]);
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

  test("are created, the claim first, even if an earlier run has created one of them", async () => {
    api.answer = (_, response) => void response.writeHead(api.asked.length === 1 ? 409 : 201).end("{}");
    expect(await objects.make(signal)).toBeUndefined();
    expect(api.asked).toEqual([
      "POST /api/v1/namespaces/kube-system/persistentvolumeclaims",
      "POST /api/v1/namespaces/kube-system/pods",
    ]);
  });

  test("fail with the API's words if it refuses them", async () => {
    api.answer = (_, response) => void response.writeHead(403).end(JSON.stringify({ message: "exceeded quota" }));
    expect(await objects.make(signal)).toBe("403 exceeded quota");
  });

  test("are deleted, and a missing one is not reported", async () => {
    const cluster = new ObjectsApi(api);
    expect(await objects.make(signal)).toBeUndefined();
    expect(await objects.remove()).toBeUndefined();
    expect(cluster.paths).toEqual([]);
    expect(await objects.remove()).toBeUndefined();
  });

  test("are not deleted if the API is gone, which is reported", async () => {
    await api.stop();
    expect(await objects.remove()).toMatch(/^cannot be removed: 127\.0\.0\.1:\d+ refuses the connection$/);
    await api.start();
  });
});

describe("S3.2 a trial on a cluster", () => {
  const core = "/api/v1/namespaces/kube-system";
  const [claims, pods, volumes] = [`${core}/persistentvolumeclaims`, `${core}/pods`, "/api/v1/persistentvolumes"];
  let api: ApiServer;
  let cluster: ObjectsApi;

  beforeEach(async () => {
    api = new ApiServer();
    await api.start();
    cluster = new ObjectsApi(api);
  });
  afterEach(() => api.stop());

  /** Does what provisioner, binder, scheduler and kubelet do, and deletes volumes as the class's policy says. */
  function works(policy: "Delete" | "Retain"): void {
    cluster.react = ({ type, collection, object }) => {
      const { name, uid = "" } = object.metadata;
      const path = `${volumes}/pvc-${uid}`;
      if (collection === claims && type === "ADDED") {
        const made = volumeFor(uid);
        cluster.put(volumes, { ...made, spec: { ...made.spec, persistentVolumeReclaimPolicy: policy } } as Volume);
        cluster.put(claims, { ...object, spec: { volumeName: `pvc-${uid}` }, status: { phase: "Bound" } } as Claim);
      }
      if (collection === claims && type === "DELETED" && policyOf(path) === "Delete") cluster.remove(path);
      const isReleased = () => cluster.get(`${claims}/${named.name}`)?.metadata.uid !== uidOf(object as Volume);
      const isGoing = collection === volumes && type === "MODIFIED" && policyOf(`${volumes}/${name}`) === "Delete";
      if (isGoing && isReleased()) cluster.remove(`${volumes}/${name}`);
      if (collection === pods && type === "ADDED") {
        const conditions = [{ type: "Ready", status: "True" }];
        cluster.put(pods, { ...object, status: { phase: "Running", conditions } } as Pod);
      }
    };
  }
  const uidOf = ({ spec }: Volume) => spec.claimRef?.uid;
  const policyOf = (path: string) => (cluster.get(path) as Volume | undefined)?.spec.persistentVolumeReclaimPolicy;
  const run = (options: TrialOptions = {}) => runTrial(volumeTrial({ kubeconfig: api.kubeconfig() }, probe), options);
  const changes = () =>
    api.asked.filter((call) => /^(POST|PATCH|DELETE)/.test(call)).map((call) => call.replace(core, ""));

  test.each(["Delete", "Retain"] as const)("leaves no volume with a class that says %s", async (policy) => {
    works(policy);
    expect((await run()).kind).toBe("opened");
    expect(cluster.paths).toEqual([]);
    const removal = changes().filter((call) => !/pods/.test(call));
    expect(removal).toEqual([
      "POST /persistentvolumeclaims",
      expect.stringMatching(/^PATCH \/api\/v1\/persistentvolumes\/pvc-/),
      "DELETE /persistentvolumeclaims/sluice-volume-probe",
    ]);
  });

  test("deletes what an earlier run has left, including a volume without a claim", async () => {
    const left = volumeFor("earlier");
    cluster.put(volumes, { ...left, spec: { ...left.spec, persistentVolumeReclaimPolicy: "Retain" } } as Volume);
    cluster.put(claims, claim("Pending"));
    works("Delete");
    expect((await run()).kind).toBe("opened");
    expect(cluster.paths).toEqual([]);
  });

  test("leaves a volume alone that existed before and bound the claim", async () => {
    const own = { ...volumeFor("any"), metadata: { name: "photos" } };
    works("Delete");
    const { react } = cluster;
    cluster.react = (change) => {
      if (change.collection !== claims || change.type !== "ADDED") return react(change);
      const claimRef = { ...own.spec.claimRef, uid: change.object.metadata.uid ?? "" };
      cluster.put(volumes, { ...own, spec: { claimRef, persistentVolumeReclaimPolicy: "Retain" } } as Volume);
      cluster.put(claims, { ...change.object, status: { phase: "Bound" } } as Claim);
    };
    expect((await run()).kind).toBe("opened");
    expect(policyOf(`${volumes}/photos`)).toBe("Retain");
  });

  test("S1.7 leaves no claim when the pod was refused and the wait is over", async () => {
    works("Retain");
    cluster.refuse = (method, path) => (method === "POST" && path === pods ? [403, "exceeded quota"] : undefined);
    const [told, interrupted] = [[] as string[], new AbortController()];
    const end = run({ told, interrupted });
    while (!told.some((text) => text.includes("exceeded quota"))) await new Promise((done) => setImmediate(done));
    expect(cluster.paths).not.toEqual([]);
    interrupted.abort();
    expect(await end).toMatchObject({ kind: "interrupted", unmet: [{ verdict: { reason: "403 exceeded quota" } }] });
    expect(cluster.paths).toEqual([]);
  });

  test("S1.7 retries a removal that failed, and reports meanwhile why it did", async () => {
    works("Delete");
    let fails = 2;
    cluster.refuse = (method) => {
      if (method !== "DELETE" || fails === 0) return undefined;
      fails -= 1;
      return [503, "etcd is busy"];
    };
    const told: string[] = [];
    expect((await run({ told })).kind).toBe("opened");
    expect(told).toContainEqual(expect.stringMatching(/still there: .*\(cannot be removed: 503 etcd is busy\)/));
    expect(cluster.paths).toEqual([]);
  });

  test("S1.7 fails with the reason if it could not be removed in time", async () => {
    works("Delete");
    cluster.refuse = (method) => (method === "DELETE" ? [503, "etcd is busy"] : undefined);
    expect(await run({ deadlineSeconds: 1 })).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { reason: expect.stringMatching(/^still there: .*etcd is busy/) } }],
    });
  });
});
