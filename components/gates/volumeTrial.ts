// Proves that storage works by using it: a volume is made, mounted by a pod, and taken away again.
import { KubernetesClient } from "../kubernetes/client.ts";
import type { KubernetesEvent, KubernetesObject, Pod } from "../kubernetes/objects.ts";
import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import { type VolumeProbe, VolumeProbeObjects } from "../kubernetes/volumeProbe.ts";
import { type Clock, pause } from "./clock.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { podReason } from "./podReason.ts";

interface Claim extends KubernetesObject {
  readonly status?: { readonly phase?: string };
}
interface Volume extends KubernetesObject {
  readonly spec: { readonly claimRef?: { readonly name: string } };
}
type Kinds = { claims: Claim; volumes: Volume; pods: Pod; events: KubernetesEvent };
type Observation = Observed<Kinds> & { readonly used: boolean; readonly refused?: string };

export function volumeTrial(
  credentials: KubernetesCredentials,
  probe: VolumeProbe,
): GateDefinition<unknown, Observation> {
  return {
    name: "CsiReady",
    timeoutCode: "SLU-K113",
    conditions: () => [apiAnswers, used, gone],
    observe: (_, signal, clock) => tryOut(credentials, probe, signal, clock),
    evidence: () => ({ volume: `${probe.size} of ${probe.storageClass} was bound, mounted and removed` }),
  };
}

const used: Condition<Observation> = {
  phrase: "a volume to be bound and mounted",
  evaluate({ used, refused, claims: [claim], pods: [pod], events }): readonly Verdict[] {
    if (used) return [];
    if (refused !== undefined) return [{ kind: "pending", reason: refused }];
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

const gone: Condition<Observation> = {
  phrase: "the test volume to be removed again",
  evaluate({ pods, claims, volumes }) {
    const ours = volumes.filter(({ spec }) => spec.claimRef?.name === VolumeProbeObjects.called);
    const left = [...pods, ...claims, ...ours].map(({ metadata }) => metadata.name);
    return left.length === 0 ? [] : [{ kind: "pending", reason: `still there: ${left.join(", ")}` }];
  },
};

/** First takes away what an earlier run has left; removes what it made when it was used, or when nobody waits any more. */
async function* tryOut(
  { kubeconfig }: KubernetesCredentials,
  probe: VolumeProbe,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<Observation> {
  const objects = new VolumeProbeObjects(new KubernetesClient(kubeconfig, clock), probe);
  let state: "before" | "made" | "used" = "before";
  try {
    for await (const seen of observe<Kinds>({ kubeconfig }, VolumeProbeObjects.paths, signal, clock)) {
      const there = [...seen.pods, ...seen.claims];
      if (state === "made" && seen.pods.some((pod) => podReason(pod, []) === undefined)) state = "used";
      if (state !== "made") await objects.remove(there);
      while (state === "before" && there.length === 0 && seen.unreachable === undefined && !signal.aborted) {
        const refused = await objects.make(signal);
        if (refused === undefined) state = "made";
        else {
          yield { ...seen, used: false, refused };
          await pause(clock, 1_000, signal);
        }
      }
      yield { ...seen, used: state === "used" };
    }
  } finally {
    if (state === "made") await objects.remove();
  }
}
