import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { datapathTrial } from "../../../components/gates/datapathTrial.ts";
import { datapathDaemonSet, datapathProbe } from "../../../components/kubernetes/datapathProbe.ts";
import type { ContainerStatus, DaemonSet, Pod } from "../../../components/kubernetes/objects.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { ObjectsApi } from "../kubernetes/objectsApi.ts";
import { credentials, nodes, verdicts } from "./kubernetesLooks.ts";
import { runTrial, type TrialOptions } from "./runTrial.ts";

const trial = datapathTrial(credentials, nodes);
type Look = Parameters<typeof trial.evidence>[0];
const image = "mirror.example/cilium/cilium:v1.18.8";
const agent: DaemonSet = {
  metadata: { name: "cilium" },
  spec: {
    template: { spec: { containers: [{ name: "cilium-agent", image }], imagePullSecrets: [{ name: "mirror" }] } },
  },
};
const status = { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3 };
const probe = {
  ...(datapathDaemonSet(agent) as DaemonSet),
  metadata: { name: datapathProbe, uid: "probe", generation: 1 },
  status,
};
const podOn = (node: string, more: Pod["status"] = {}, owner = "probe"): Pod => ({
  metadata: {
    name: `${datapathProbe}-${node}`,
    uid: `${owner}-${node}`,
    ownerReferences: [{ kind: "DaemonSet", name: datapathProbe, uid: owner }],
  },
  spec: { nodeName: node },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...more },
});
const connecting = (state: Partial<ContainerStatus>): Pod["status"] => ({
  phase: "Pending",
  conditions: [{ type: "Ready", status: "False" }],
  initContainerStatuses: [{ name: "connect", ready: false, restartCount: 0, image, ...state }],
});
const seen: Look = {
  ...{ daemonSets: [agent, probe], pods: nodes.map((node) => podOn(node)), events: [] },
  ...{ unreachable: undefined, used: false },
};
const judge = (look: Partial<Look>) => verdicts(trial.conditions({}), { ...seen, ...look });
const without = (node: string) => seen.pods.filter(({ spec }) => spec?.nodeName !== node);

describe("S3.2 the trial of the datapath", () => {
  test("waits until a pod has connected on every node, and then until the pods are removed", () => {
    const still = { kind: "pending", reason: "still there: DaemonSet sluice-datapath-probe" };
    expect(judge({})).toEqual([still]);
    expect(judge({ used: true, trouble: "cannot be deleted: 503 busy" })).toEqual([
      { kind: "pending", reason: "still there: DaemonSet sluice-datapath-probe (cannot be deleted: 503 busy)" },
    ]);
    expect(judge({ used: true, daemonSets: [agent], pods: [] })).toEqual([]);
    expect(judge({ daemonSets: [agent], pods: [] })).toEqual([
      { kind: "pending", where: "test pods", reason: "are not created yet" },
    ]);
    expect(judge({ daemonSets: [agent], pods: [], trouble: "cannot be created: 403 denied" })).toEqual([
      { kind: "pending", where: "test pods", reason: "cannot be created: 403 denied" },
    ]);
  });

  test.each([
    ["a refused connection", { exitCode: 1, message: "x\nbash: line 1: /dev/tcp/10.96.0.1/443: Connection refused\n" }],
    ["silence", { exitCode: 124 }],
    ["an image without bash", { exitCode: 127 }],
  ])("names the node from which a pod cannot connect, with the reason: %s (S3.2)", (what, terminated) => {
    const words: Readonly<Record<string, string>> = {
      "a refused connection": "bash: line 1: /dev/tcp/10.96.0.1/443: Connection refused",
      silence: "no answer within 5 s",
      "an image without bash": "ended with 127",
    };
    const reason = `pods there cannot connect to the API by its Service address: ${words[what]}`;
    for (const state of [
      { state: { terminated } },
      { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated }, restartCount: 2 },
    ]) {
      const pods = [...without("w-1"), podOn("w-1", connecting(state))];
      expect(judge({ pods })[0]).toMatchObject({ kind: "pending", where: "w-1", reason });
    }
  });

  test("names the node whose pod did not start or is missing, with the reason, and ignores pods of an earlier run", () => {
    const waiting = { waiting: { reason: "ImagePullBackOff", message: "not found" } };
    const [first] = judge({ pods: [...without("w-1"), podOn("w-1", connecting({ state: waiting }))] });
    expect(first).toMatchObject({
      where: "w-1",
      reason: expect.stringContaining("init container connect: ImagePullBackOff"),
    });
    expect(judge({ pods: [...without("w-2"), podOn("w-2", {}, "earlier")] })[0]).toMatchObject({
      where: "w-2",
      reason: "has no pod of DaemonSet sluice-datapath-probe",
    });
  });

  test("starts pods that any namespace accepts, on every node, with the image and pull secrets of Cilium's agent", () => {
    const { template } = (datapathDaemonSet(agent) as { spec: { template: { spec: Record<string, unknown> } } }).spec;
    const restricted = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    };
    expect(template.spec).toEqual({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: "Exists" }],
      securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: "RuntimeDefault" } },
      imagePullSecrets: [{ name: "mirror" }],
      initContainers: [
        {
          name: "connect",
          image,
          command: ["timeout", "5", "bash", "-c", ": < /dev/tcp/$KUBERNETES_SERVICE_HOST/$KUBERNETES_SERVICE_PORT"],
          terminationMessagePolicy: "FallbackToLogsOnError",
          securityContext: restricted,
        },
      ],
      containers: [{ name: "connected", image, command: ["sleep", "infinity"], securityContext: restricted }],
    });
  });
});

describe("S3.2 a trial of the datapath on a cluster", () => {
  const daemonSets = "/apis/apps/v1/namespaces/kube-system/daemonsets";
  const pods = "/api/v1/namespaces/kube-system/pods";
  let api: ApiServer;
  let cluster: ObjectsApi;
  beforeEach(async () => {
    api = new ApiServer();
    await api.start();
    cluster = new ObjectsApi(api);
    cluster.put(daemonSets, agent);
  });
  afterEach(() => api.stop());

  /** Does what the DaemonSet controller and kubelets do; a pod becomes Ready on the nodes given. */
  function works(ready: readonly string[]): void {
    cluster.react = ({ type, collection, object }) => {
      if (collection !== daemonSets || object.metadata.name !== datapathProbe) return;
      const uid = object.metadata.uid ?? "";
      if (type === "ADDED") {
        for (const node of ready) cluster.put(pods, podOn(node, {}, uid));
        const metadata = { ...object.metadata, generation: 1 };
        cluster.put(daemonSets, { ...object, metadata, status } as DaemonSet);
      }
      if (type === "DELETED") for (const node of ready) cluster.remove(`${pods}/${datapathProbe}-${node}`);
    };
  }
  const run = (options: TrialOptions = {}) => runTrial(datapathTrial({ kubeconfig: api.kubeconfig() }, nodes), options);
  const changes = () => api.asked.filter((call) => /^(POST|PATCH|DELETE)/.test(call));
  const created = `POST ${daemonSets}`;
  const deleted = `DELETE ${daemonSets}/${datapathProbe}`;

  test("creates one DaemonSet, deletes it once all nodes have connected, and leaves nothing", async () => {
    works(nodes);
    expect((await run()).kind).toBe("opened");
    expect(changes()).toEqual([created, deleted]);
    expect(cluster.paths).toEqual([`${daemonSets}/cilium`]);
  });

  test("S1.7 does not count what an earlier run left behind: it is deleted, and the proof is made again", async () => {
    cluster.put(daemonSets, probe);
    for (const node of nodes) cluster.put(pods, podOn(node));
    works(nodes);
    expect((await run()).kind).toBe("opened");
    // An observation from before the deletion requests it again.
    expect(changes().filter((call, place, all) => call !== all[place - 1])).toEqual([deleted, created, deleted]);
    expect(cluster.paths).toEqual([`${daemonSets}/cilium`]);
  });

  test("S1.7 leaves nothing behind when it fails or is interrupted", async () => {
    works(["cp-1", "w-1"]);
    expect(await run({ deadlineSeconds: 1 })).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { where: "w-2" } }],
    });
    expect(cluster.paths).toEqual([`${daemonSets}/cilium`]);
    const [interrupted, told] = [new AbortController(), [] as string[]];
    const end = run({ interrupted, told });
    while (!told.some((text) => text.includes("w-2"))) await new Promise((done) => setImmediate(done));
    interrupted.abort();
    expect((await end).kind).toBe("interrupted");
    expect(cluster.paths).toEqual([`${daemonSets}/cilium`]);
  });

  test("reports why the pods were refused", async () => {
    works(nodes);
    cluster.refuse = (method) => (method === "POST" ? [403, "denied the request: no signature"] : undefined);
    expect(await run({ deadlineSeconds: 1 })).toMatchObject({
      unmet: [{ verdict: { where: "test pods", reason: "cannot be created: 403 denied the request: no signature" } }],
    });
  });
});
