// Whether a backup may be restored into a cluster.
import { SluiceError } from "../errors/sluiceError.ts";
import type { BackupManifest } from "./manifest.ts";

/** The cluster that an environment describes. */
export interface RestoringCluster {
  /** Derived from its machine secrets. */
  readonly id: string;
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
}

/** Undefined if it fits. */
export function refusalOf(
  name: string,
  { cluster: was }: Pick<BackupManifest, "cluster">,
  cluster: RestoringCluster,
): SluiceError | undefined {
  if (was.id !== cluster.id) {
    const seen = `it is of the cluster ${was.name} with the id ${was.id}; this environment's machine secrets are of ${cluster.id}`;
    return new SluiceError({ code: "SLU-B106", where: name, seen });
  }
  const seen = [kubernetesFault(was, cluster), talosFault(was, cluster)].filter((fault) => fault !== undefined);
  return seen.length === 0 ? undefined : new SluiceError({ code: "SLU-B109", where: name, seen: seen.join("; ") });
}

type Versions = Pick<RestoringCluster, "talosVersion" | "kubernetesVersion">;

/** The API server reads what itself and the release before it have stored. */
function kubernetesFault(
  { kubernetesVersion: was }: Versions,
  { kubernetesVersion: is }: Versions,
): string | undefined {
  const steps = minorOf(is) - minorOf(was);
  if (majorOf(is) === majorOf(was) && (steps === 0 || steps === 1)) return undefined;
  const fit = `${majorOf(was)}.${minorOf(was)} or ${majorOf(was)}.${minorOf(was) + 1}`;
  return `its objects were stored by Kubernetes ${was}, and kubernetesVersion is ${is}: only ${fit} can read them`;
}

/** Each Talos release brings an etcd that reads what earlier ones have written. */
function talosFault({ talosVersion: was }: Versions, { talosVersion: is }: Versions): string | undefined {
  const isOlder = majorOf(is) < majorOf(was) || (majorOf(is) === majorOf(was) && minorOf(is) < minorOf(was));
  return isOlder
    ? `its etcd was that of Talos ${was}, and talosVersion is ${is}: an older etcd cannot read it`
    : undefined;
}

function majorOf(version: string): number {
  return Number(/^v?(\d+)/.exec(version)?.[1]);
}

function minorOf(version: string): number {
  return Number(/^v?\d+\.(\d+)/.exec(version)?.[1]);
}

/** Where neither the state nor the environment's file has machine secrets. */
export function secretsMissing(): SluiceError {
  return new SluiceError({
    code: "SLU-B108",
    where: "restoreFrom",
    seen: "neither the state nor the environment's file has machine secrets, and new ones would be generated",
  });
}
