import { describe, expect, test } from "@jest/globals";
import { ciliumReady } from "../../../components/gates/ciliumReady.ts";
import { gateFailure } from "../../../components/gates/gateFailure.ts";
import type { Workloads } from "../../../components/gates/kubernetes/workloads.ts";
import type { Verdict } from "../../../components/waiting/condition.ts";
import type { Unmet } from "../../../components/waiting/history.ts";
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
  test("opens on a healthy cluster, with Cilium's version and nodes as evidence", () => {
    expect(judge(healthy())).toEqual([]);
    expect(ciliumReady.evidence(look(healthy()), { credentials, nodes })).toEqual({
      nodes,
      images: { "cilium-agent": "quay.io/cilium/cilium:v1.18.8" },
    });
  });

  test("tries the datapath unless cilium.probe is off, and its inputs have only what differs from the default", () => {
    const facts = { nodeNames: nodes, kubeconfig: "", ground: [], cilium: { triggers: [], probe: true } };
    expect(ciliumReady.inputs(facts)).toEqual({ nodes });
    expect(ciliumReady.trial?.({ credentials, nodes })).toMatchObject({ timeoutCode: "SLU-K120" });
    const off = ciliumReady.inputs({ ...facts, cilium: { triggers: [], probe: false } });
    expect(off).toEqual({ nodes, isProbeOff: true });
    expect(ciliumReady.trial?.({ credentials, nodes, isProbeOff: true })).toBeUndefined();
  });

  test("has evidence only of the environment's nodes", () => {
    const expected = { credentials, nodes: ["cp-1", "w-1"] };
    expect(ciliumReady.evidence(look(healthy()), expected)).toMatchObject({ nodes: ["cp-1", "w-1"] });
  });

  test.each([
    ["held", /PodInitializing/, {}],
    ["crash", /CrashLoopBackOff.*restarts: 2/, { stall: expect.stringMatching(/^pod cilium-\w+: cilium-agent$/) }],
    ["image", /ImagePullBackOff.*not found/, {}],
  ] as const)(
    "names the worker and the pod's reason, and whether waiting seldom helps: %s (S5.5)",
    (what, reason, stall) => {
      expect(judge(withPod(what))).toEqual([
        { kind: "pending", where: "w-1", reason: expect.stringMatching(reason), ...stall },
      ]);
    },
  );

  test("expects every node of the environment, and no other", () => {
    expect(judge(healthy(), [...nodes, "w-9"])).toEqual([
      {
        kind: "pending",
        where: "w-9",
        reason: "has no pod of DaemonSet cilium",
        remedy: expect.stringMatching(/^Kubernetes has not made a pod for the node: /),
      },
    ]);
  });

  test("reports why a node gets no pod, if Kubernetes does", () => {
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
    ["does not exist", (seen: Workloads) => ({ ...seen, daemonSets: [] }), "does not exist"],
    [
      "has pods of an older version",
      (seen: Workloads) => ({
        ...seen,
        daemonSets: seen.daemonSets.map((one) => ({ ...one, status: { ...one.status, updatedNumberScheduled: 4 } })),
      }),
      "4 of 6 pods have its current version",
    ],
    [
      "was changed just now",
      (seen: Workloads) => ({
        ...seen,
        daemonSets: seen.daemonSets.map((one) => ({ ...one, metadata: { ...one.metadata, generation: 2 } })),
      }),
      "6 of 6 pods have its current version",
    ],
  ])("waits for the DaemonSet while it %s", (_, change, reason) => {
    expect(judge(change(healthy()))).toMatchObject([{ kind: "pending", where: "DaemonSet cilium", reason }]);
  });

  test("never says to fix what a pod reports if there is none", () => {
    const empty = { ...healthy(), pods: [] };
    const unmet = { hasObserved: true, seconds: 300, kind: "timeout" } as const;
    const message = (verdict: Verdict) =>
      gateFailure(ciliumReady, { ...unmet, unmet: [{ phrase: "it", verdict, seconds: 1 } as Unmet] }, 0).message;
    const absent = { ...empty, daemonSets: [], deployments: [] };
    const messages = [...judge(empty), ...judge(absent)].map(message);
    expect(messages).toHaveLength(nodes.length + 2);
    for (const text of messages) expect(text).not.toContain("the problem that the pod reports");
    expect(messages.join("\n")).toContain("run `npm run up -- <environment> --refresh`");
    const [held] = judge(withPod("held"));
    expect(held && message(held)).toContain("Fix the problem that the pod reports");
  });

  test("waits for the operator, and reports why its pods are not ready", () => {
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

  test("fails at once on an invalid image name", () => {
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

test("the evidence of CiliumReady in a few words", () => {
  const evidence = { nodes: ["cp-1", "w-1"], images: { agent: "quay.io/cilium/cilium:v1.18.8@sha256:00" } };
  expect(ciliumReady.words(evidence)).toBe("Cilium v1.18.8 on 2 nodes");
  const datapath = "a pod on every node connected to the API by its Service address";
  expect(ciliumReady.words({ ...evidence, datapath })).toBe("Cilium v1.18.8 on 2 nodes, pods reach the API");
});
