// Proves that storage works by using it: a volume is made, mounted by a pod, and taken away again.
import { apiAnswers, type KubernetesCredentials } from "../kubernetes/observe.ts";
import { isOfProbe, type VolumeProbe } from "../kubernetes/volumeProbe.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { podReason } from "./podReason.ts";
import { tryVolume, type VolumeLook } from "./tryVolume.ts";

export function volumeTrial(
  credentials: KubernetesCredentials,
  probe: VolumeProbe,
): GateDefinition<unknown, VolumeLook> {
  return {
    name: "CsiReady",
    timeoutCode: "SLU-K113",
    conditions: () => [apiAnswers, used, gone],
    observe: (_, signal, clock) => tryVolume(credentials, probe, signal, clock),
    evidence: () => ({ volume: `${probe.size} of ${probe.storageClass} was bound, mounted and removed` }),
  };
}

const used: Condition<VolumeLook> = {
  phrase: "a volume to be bound and mounted",
  evaluate({ used, trouble, claims: [claim], pods: [pod], events }): readonly Verdict[] {
    if (used) return [];
    if (trouble !== undefined) return [{ kind: "pending", where: "test volume", reason: trouble }];
    const why = pod === undefined ? undefined : podReason(pod, events)?.reason;
    if (claim?.status?.phase === "Bound")
      return [{ kind: "pending", where: "test pod", reason: why ?? "is not there" }];
    const said = events.findLast(
      ({ involvedObject, type }) => involvedObject.kind.endsWith("Claim") && type === "Warning",
    );
    const words = said === undefined ? "" : `: ${said.reason}: ${said.message}`;
    return [
      { kind: "pending", where: "test volume claim", reason: `is ${claim?.status?.phase ?? "not there"}${words}` },
    ];
  },
};

const gone: Condition<VolumeLook> = {
  phrase: "the test volume to be removed again",
  evaluate({ pods, claims, volumes, trouble }) {
    const left = [...pods, ...claims, ...volumes.filter(isOfProbe)].map(({ metadata }) => metadata.name);
    const why = trouble === undefined ? "" : ` (${trouble})`;
    return left.length === 0 ? [] : [{ kind: "pending", reason: `still there: ${left.join(", ")}${why}` }];
  },
};
