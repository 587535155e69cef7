// What the trial of a volume does, and what it sees meanwhile.
import { KubernetesClient } from "../kubernetes/client.ts";
import type { KubernetesEvent, KubernetesObject, Pod } from "../kubernetes/objects.ts";
import { type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import { isOfProbe, type PersistentVolume, type VolumeProbe, VolumeProbeObjects } from "../kubernetes/volumeProbe.ts";
import { type Clock, pause } from "./clock.ts";
import { podReason } from "./podReason.ts";

interface Claim extends KubernetesObject {
  readonly status?: { readonly phase?: string };
}
type Kinds = { claims: Claim; volumes: PersistentVolume; pods: Pod; events: KubernetesEvent };
export type VolumeLook = Observed<Kinds> & {
  readonly used: boolean;
  /** Why the last call did not do what it was for. */
  readonly trouble?: string;
};

/** Milliseconds before a call that failed is made again. */
const again = 500;
/** How often a removal is asked for when nobody waits any more. */
const lastTries = 3;

/** First takes away what an earlier run has left; removes what it made when it was used, or when nobody waits any more. */
export async function* tryVolume(
  { kubeconfig }: KubernetesCredentials,
  probe: VolumeProbe,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<VolumeLook> {
  const objects = new VolumeProbeObjects(new KubernetesClient(kubeconfig, clock), probe);
  let state = "before" as "before" | "made" | "used";
  let mayBeThere = false;
  /** What is to be done now; why it could not be. */
  const step = async ({ pods, claims, volumes, unreachable }: Observed<Kinds>): Promise<string | undefined> => {
    if (state === "made" || unreachable !== undefined || signal.aborted) return undefined;
    const stays = [...pods, ...claims].some(({ metadata }) => metadata.deletionTimestamp === undefined);
    const kept = volumes.filter((one) => isOfProbe(one) && isKept(one, claims));
    if (stays || kept.length > 0) return objects.remove(kept);
    if (pods.length + claims.length > 0) return undefined;
    mayBeThere = state === "before";
    if (state === "used") return undefined;
    const refused = await objects.make(signal);
    if (refused === undefined) state = "made";
    return refused;
  };
  try {
    for await (const seen of observe<Kinds>({ kubeconfig }, VolumeProbeObjects.paths, signal, clock)) {
      if (state === "made" && seen.pods.some((pod) => podReason(pod, []) === undefined)) state = "used";
      for (let trouble = await step(seen); trouble !== undefined && !signal.aborted; trouble = await step(seen)) {
        yield { ...seen, used: state === "used", trouble };
        await pause(clock, again, signal);
      }
      yield { ...seen, used: state === "used" };
    }
  } finally {
    for (let tries = 0; mayBeThere && tries < lastTries; tries += 1) {
      mayBeThere = (await objects.remove()) !== undefined;
      if (mayBeThere) await pause(clock, again);
    }
  }
}

/** Left by an earlier claim: of one that is there, the volume goes with it. */
function isKept({ spec }: PersistentVolume, claims: readonly Claim[]): boolean {
  const isClaimed = claims.some(({ metadata }) => metadata.uid === spec.claimRef?.uid);
  return spec.persistentVolumeReclaimPolicy !== "Delete" && !isClaimed;
}
