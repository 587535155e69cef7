// Proves that storage works: a volume is created, mounted by a pod, and deleted again.
import type { KubernetesCredentials } from "../kubernetes/observe.ts";
import { podReason } from "../kubernetes/podReason.ts";
import { isOfProbe, type VolumeProbe } from "../kubernetes/volumeProbe.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { GateCheck } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import type { VolumeObservation } from "./kubernetes/tryVolume.ts";
import { lazily } from "./lazily.ts";

export function volumeTrial(
  credentials: KubernetesCredentials,
  probe: VolumeProbe,
): GateCheck<unknown, VolumeObservation> {
  return {
    name: "CsiReady",
    timeoutCode: "SLU-K113",
    conditions: () => [apiAnswers, used, gone],
    observe: (_, signal, clock) =>
      lazily(async () => (await import("./kubernetes/tryVolume.ts")).tryVolume(credentials, probe, signal, clock)),
    evidence: () => ({ volume: `${probe.size} of ${probe.storageClass} was bound, mounted and removed` }),
  };
}

const used: Condition<VolumeObservation> = {
  phrase: "a volume to be bound and mounted",
  evaluate({ used, trouble, claims: [claim], pods: [pod], events }): readonly Verdict[] {
    if (used) return [];
    if (trouble !== undefined) return [{ kind: "pending", where: "test volume", reason: trouble }];
    const why = pod === undefined ? undefined : podReason(pod, events)?.reason;
    if (claim?.status?.phase === "Bound")
      return [{ kind: "pending", where: "test pod", reason: why ?? "does not exist" }];
    const said = events.findLast(
      ({ involvedObject, type }) => involvedObject.kind.endsWith("Claim") && type === "Warning",
    );
    const words = said === undefined ? "" : `: ${said.reason}: ${said.message}`;
    return [{ kind: "pending", where: "test volume claim", reason: `is ${claim?.status?.phase ?? "missing"}${words}` }];
  },
};

const gone: Condition<VolumeObservation> = {
  phrase: "the test volume to be removed again",
  evaluate({ pods, claims, volumes, trouble }) {
    const left = [...pods, ...claims, ...volumes.filter(isOfProbe)].map(({ metadata }) => metadata.name);
    const why = trouble === undefined ? "" : ` (${trouble})`;
    return left.length === 0 ? [] : [{ kind: "pending", reason: `still there: ${left.join(", ")}${why}` }];
  },
};
