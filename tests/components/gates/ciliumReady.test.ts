import { describe, expect, test } from "@jest/globals";
import { ciliumReady } from "../../../components/gates/ciliumReady.ts";
import type { Workloads } from "../../../components/gates/workloads.ts";
import { credentials, look, nodes, podsOnW1, recorded, verdicts } from "./kubernetesLooks.ts";

const healthy = () => recorded<Workloads>("cilium");
const judge = (seen: Workloads, expected = nodes) =>
  verdicts(ciliumReady.conditions({ credentials, nodes: expected }), look(seen));
/** The healthy cluster with another pod on w-1. */
const withPod = (what: "held" | "crash" | "image"): Workloads => {
  const { pod, events } = podsOnW1()[what];
  const seen = healthy();
  const [daemonSet] = seen.daemonSets;
  const owned = {
    ...pod.metadata,
    ownerReferences: [{ kind: "DaemonSet", name: "cilium", uid: daemonSet?.metadata.uid ?? "" }],
  };
  const others = seen.pods.filter(
    ({ spec, metadata }) => spec?.nodeName !== "w-1" || metadata.name.includes("operator"),
  );
  return { ...seen, pods: [...others, { ...pod, metadata: owned }], events };
};

describe("S3.2 the gate CiliumReady", () => {
  test("opens on a healthy cluster, and says where and which Cilium it saw", () => {
    expect(judge(healthy())).toEqual([]);
    expect(ciliumReady.evidence(look(healthy()), { credentials, nodes })).toEqual({
      nodes,
      images: { "cilium-agent": "quay.io/cilium/cilium:v1.18.8" },
    });
  });

  test("tells of the nodes that there should be, and not of others that have a pod of Cilium", () => {
    const expected = { credentials, nodes: ["cp-1", "w-1"] };
    expect(ciliumReady.evidence(look(healthy()), expected)).toMatchObject({ nodes: ["cp-1", "w-1"] });
  });

  test.each([
    ["held", /PodInitializing/],
    ["crash", /CrashLoopBackOff.*restarts: 2/],
    ["image", /ImagePullBackOff.*not found/],
  ] as const)("names the worker and the pod's reason: %s", (what, reason) => {
    expect(judge(withPod(what))).toEqual([{ kind: "pending", where: "w-1", reason: expect.stringMatching(reason) }]);
  });

  test("asks for every node that there should be, not for every one that there is", () => {
    expect(judge(healthy(), [...nodes, "w-9"])).toEqual([
      { kind: "pending", where: "w-9", reason: "has no pod of DaemonSet cilium" },
    ]);
  });

  test("says why a node gets no pod, where Kubernetes does", () => {
    const seen = healthy();
    const uid = seen.daemonSets[0]?.metadata.uid ?? "";
    const refused = {
      metadata: { name: "refused" },
      involvedObject: { kind: "DaemonSet", name: "cilium", uid },
      type: "Warning",
      reason: "FailedCreate",
      message: "violates PodSecurity",
    };
    expect(judge({ ...seen, events: [refused] }, ["w-9"])).toMatchObject([
      { reason: "has no pod of DaemonSet cilium: violates PodSecurity" },
    ]);
  });

  test.each([
    ["is not there", (seen: Workloads) => ({ ...seen, daemonSets: [] }), "is not there"],
    [
      "has pods of an older version",
      (seen: Workloads) => ({
        ...seen,
        daemonSets: seen.daemonSets.map((one) => ({ ...one, status: { ...one.status, updatedNumberScheduled: 4 } })),
      }),
      "4 of 6 pods are of its current version",
    ],
    [
      "was changed just now",
      (seen: Workloads) => ({
        ...seen,
        daemonSets: seen.daemonSets.map((one) => ({ ...one, metadata: { ...one.metadata, generation: 2 } })),
      }),
      "6 of 6 pods are of its current version",
    ],
  ])("waits for the DaemonSet while it %s", (_, change, reason) => {
    expect(judge(change(healthy()))).toEqual([{ kind: "pending", where: "DaemonSet cilium", reason }]);
  });

  test("waits for the operator, and says what keeps its pods", () => {
    const seen = healthy();
    const deployments = seen.deployments.map((one) => ({ ...one, status: { ...one.status, availableReplicas: 1 } }));
    expect(judge({ ...seen, deployments })).toMatchObject([
      { where: "Deployment cilium-operator", reason: "1 of 2 replicas are available" },
    ]);
    const pods = seen.pods.map((one) =>
      one.metadata.name.includes("operator") ? { ...one, status: { phase: "Pending" } } : one,
    );
    expect(judge({ ...seen, deployments, pods })).toHaveLength(2);
  });

  test("fails at once at an image whose name cannot be one", () => {
    const seen = withPod("held");
    const waiting = { waiting: { reason: "InvalidImageName", message: "couldn't parse image" } };
    const pods = seen.pods.map((one) =>
      one.metadata.name === podsOnW1().held.pod.metadata.name
        ? {
            ...one,
            status: {
              phase: "Pending",
              containerStatuses: [{ name: "c", ready: false, restartCount: 0, image: "A", state: waiting }],
            },
          }
        : one,
    );
    expect(judge({ ...seen, pods })).toMatchObject([{ kind: "failed", where: "w-1", code: "SLU-K111" }]);
  });
});
