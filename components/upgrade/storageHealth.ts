// Whether the volumes of a cluster are as they should be. A Node that is Ready says nothing of them: replicas of a distributed storage may still be rebuilt.
import type { KubernetesObject } from "../kubernetes/objects.ts";

interface VolumeError {
  readonly message?: string;
}

export interface VolumeAttachment extends KubernetesObject {
  readonly spec: { readonly nodeName: string; readonly attacher: string };
  readonly status?: {
    readonly attached?: boolean;
    readonly attachError?: VolumeError;
    readonly detachError?: VolumeError;
  };
}

/** `volumes.longhorn.io`. */
export interface LonghornVolume extends KubernetesObject {
  readonly status?: { readonly state?: string; readonly robustness?: string };
}

/** `cephclusters.ceph.rook.io`. */
export interface CephCluster extends KubernetesObject {
  readonly status?: {
    readonly ceph?: {
      readonly health?: string;
      readonly details?: Readonly<Record<string, { readonly message?: string }>>;
    };
  };
}

/** The objects of all kinds that say how volumes are; none of a kind that the cluster does not have. */
export interface StorageObjects {
  readonly attachments: readonly VolumeAttachment[];
  readonly longhorn: readonly LonghornVolume[];
  readonly ceph: readonly CephCluster[];
}

export const storagePaths: Readonly<Record<keyof StorageObjects, string>> = {
  attachments: "/apis/storage.k8s.io/v1/volumeattachments",
  longhorn: "/apis/longhorn.io/v1beta2/volumes",
  ceph: "/apis/ceph.rook.io/v1/cephclusters",
};

/** Everything that is not settled, in words, by what it is about. */
export function storageFaults({ attachments, longhorn, ceph }: StorageObjects): ReadonlyMap<string, string> {
  return new Map([
    ...attachments.flatMap((one) => keyed(one, attachmentFault(one))),
    ...longhorn.flatMap((one) => keyed(one, longhornFault(one))),
    ...ceph.flatMap((one) => keyed(one, cephFault(one))),
  ]);
}

function keyed({ metadata }: KubernetesObject, fault: string | undefined): readonly (readonly [string, string])[] {
  const name = [metadata.namespace, metadata.name].filter((part) => part !== undefined).join("/");
  return fault === undefined ? [] : [[name, fault]];
}

function attachmentFault({ metadata, spec, status }: VolumeAttachment): string | undefined {
  const error = status?.attachError?.message ?? status?.detachError?.message;
  const on = `of ${spec.attacher} on ${spec.nodeName}`;
  if (error !== undefined) return `a volume ${on}: ${error.split("\n")[0]}`;
  if (metadata.deletionTimestamp !== undefined) return `a volume ${on} is being detached`;
  return status?.attached ? undefined : `a volume ${on} is not attached yet`;
}

/** A volume that is detached has no robustness. */
function longhornFault({ metadata, status }: LonghornVolume): string | undefined {
  const { state, robustness } = status ?? {};
  if (robustness !== "degraded" && robustness !== "faulted") return undefined;
  return `Longhorn volume ${metadata.name} is ${robustness}${state === undefined ? "" : `, ${state}`}`;
}

/** What Ceph warns of that the loss of another node could turn into a loss of data. */
const risks = /^(OSD_.*DOWN|OSD_UNREACHABLE|PG_.*|OBJECT_.*|MON_DOWN|POOL_FULL|OSD_FULL)$/;

/** Other warnings, such as of clocks or of versions, may be there all the time. */
function cephFault({ metadata, status }: CephCluster): string | undefined {
  const { health, details } = status?.ceph ?? {};
  if (health === undefined || health === "HEALTH_OK") return undefined;
  const known = Object.entries(details ?? {});
  const named = known.filter(([check]) => risks.test(check));
  if (health === "HEALTH_WARN" && known.length > 0 && named.length === 0) return undefined;
  const why = (named.length > 0 ? named : known).map(([check, { message }]) => message ?? check).join(", ");
  return `Ceph cluster ${metadata.name} is ${health}${why === "" ? "" : `: ${why}`}`;
}
