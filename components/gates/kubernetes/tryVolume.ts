// Creates a test volume, observes it, and deletes it again.
import { KubernetesClient } from "../../kubernetes/client.ts";
import type { KubernetesEvent, KubernetesObject, Pod } from "../../kubernetes/objects.ts";
import { type KubernetesCredentials, type Observed, observe } from "../../kubernetes/observe.ts";
import { podReason } from "../../kubernetes/podReason.ts";
import { isOfProbe, type PersistentVolume, type VolumeProbe } from "../../kubernetes/volumeProbe.ts";
import { VolumeProbeObjects } from "../../kubernetes/volumeProbeObjects.ts";
import type { Clock } from "../../waiting/clock.ts";
import { type Tried, tryObjects } from "./tryObjects.ts";

interface Claim extends KubernetesObject {
  readonly status?: { readonly phase?: string };
}
type Kinds = { claims: Claim; volumes: PersistentVolume; pods: Pod; events: KubernetesEvent };
type Seen = Observed<Kinds>;
export type VolumeObservation = Seen & Tried;

/** The claim and its pod, and volumes that earlier claims have left behind. */
export function tryVolume(
  { kubeconfig }: KubernetesCredentials,
  probe: VolumeProbe,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<VolumeObservation> {
  const objects = new VolumeProbeObjects(new KubernetesClient(kubeconfig, clock), probe);
  return tryObjects<Seen>(
    {
      presence(seen) {
        const { pods, claims } = seen;
        const stays = [...pods, ...claims].some(({ metadata }) => metadata.deletionTimestamp === undefined);
        if (stays || leftVolumes(seen).length > 0) return "present";
        return pods.length + claims.length > 0 ? "leaving" : "absent";
      },
      make: (_, until) => objects.make(until),
      remove: (seen) => objects.remove(seen && leftVolumes(seen)),
      isUsed: ({ pods }) => pods.some((pod) => podReason(pod, []) === undefined),
    },
    observe<Kinds>({ kubeconfig }, VolumeProbeObjects.paths, signal, clock),
    signal,
    clock,
  );
}

/** Volumes that earlier claims have left behind; while its claim exists, a volume is deleted with it. */
function leftVolumes({ volumes, claims }: Seen): readonly PersistentVolume[] {
  return volumes.filter((volume) => {
    const { persistentVolumeReclaimPolicy: policy, claimRef } = volume.spec;
    const isClaimed = claims.some(({ metadata }) => metadata.uid === claimRef?.uid);
    return isOfProbe(volume) && policy !== "Delete" && !isClaimed;
  });
}
