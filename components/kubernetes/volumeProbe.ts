import type { KubernetesObject } from "./objects.ts";

export interface PersistentVolume extends KubernetesObject {
  readonly spec: {
    readonly claimRef?: { readonly name: string; readonly namespace?: string; readonly uid?: string };
    readonly persistentVolumeReclaimPolicy?: string;
  };
}

/** The test volume. */
export interface VolumeProbe {
  readonly storageClass: string;
  /** The smallest size that the storage can create: `10Gi`. */
  readonly size: string;
  /** The image of the pod that mounts it and does nothing. */
  readonly image: string;
}

/** Name of the claim, and of the pod that uses it. */
export const probeName = "sluice-volume-probe";
// The namespace: one with pods of the platform, where no policy of the user refuses them.
export const probeNamespace = "kube-system";

/** Whether a volume was created for a claim of that name here. An existing volume that the claim was bound to belongs to someone else. */
export function isOfProbe({ metadata, spec: { claimRef } }: PersistentVolume): boolean {
  return (
    claimRef?.name === probeName && claimRef.namespace === probeNamespace && metadata.name === volumeOf(claimRef.uid)
  );
}

/** The provisioner's name of the volume for a claim. */
export function volumeOf(uid = ""): string {
  return `pvc-${uid}`;
}
