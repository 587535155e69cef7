import type { KubernetesClient } from "./client.ts";
import { KubernetesError } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";

export interface PersistentVolume extends KubernetesObject {
  readonly spec: {
    readonly claimRef?: { readonly name: string; readonly namespace?: string; readonly uid?: string };
    readonly persistentVolumeReclaimPolicy?: string;
  };
}

/** The volume that is made to try storage out. */
export interface VolumeProbe {
  readonly storageClass: string;
  /** The smallest that the storage makes: `10Gi`. */
  readonly size: string;
  /** Of the pod that mounts it and does nothing. */
  readonly image: string;
}

const name = "sluice-volume-probe";
// Where pods of the platform are, and where no policy of the person's own refuses them.
const namespace = "kube-system";
const core = `/api/v1/namespaces/${namespace}`;
const [pods, claims, volumes] = [`${core}/pods`, `${core}/persistentvolumeclaims`, "/api/v1/persistentvolumes"];
const patience = 2_000;

/** A claim and a pod that uses it, always under the same name, so that what a run has left is found by the next. */
export class VolumeProbeObjects {
  static readonly called = name;
  /** Where they are watched, with the volume that is made for them and what is said of them. */
  static readonly paths = {
    pods: `${pods}?fieldSelector=metadata.name%3D${name}`,
    claims: `${claims}?fieldSelector=metadata.name%3D${name}`,
    volumes,
    events: `${core}/events?fieldSelector=involvedObject.name%3D${name}`,
  };

  private readonly client: KubernetesClient;
  private readonly probe: VolumeProbe;

  constructor(client: KubernetesClient, probe: VolumeProbe) {
    this.client = client;
    this.probe = probe;
  }

  /** Undefined when both are made, else why they are not. What is made by then is there. */
  async make(signal: AbortSignal): Promise<string | undefined> {
    try {
      await this.call("POST", claims, { signal, body: this.claim() });
      await this.call("POST", pods, { signal, body: this.pod() });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /**
   * Asks for the removal of all that there is, and of volumes that earlier claims have left. Undefined when that went well, else why it did not:
   * then it has to be asked for again. Whether they go is seen.
   */
  async remove(left: readonly PersistentVolume[] = []): Promise<string | undefined> {
    const calls = [
      this.call("DELETE", `${pods}/${name}`),
      this.removeClaim(),
      ...left.map(({ metadata }) => this.letGo(metadata.name)),
    ];
    const failed = (await Promise.allSettled(calls)).find(({ status }) => status === "rejected");
    return failed === undefined ? undefined : `cannot be removed: ${(failed as PromiseRejectedResult).reason.message}`;
  }

  private async removeClaim(): Promise<void> {
    const claim = await this.call<KubernetesObject>("GET", `${claims}/${name}`);
    if (claim === undefined) return;
    await this.letGo(volumeOf(claim.metadata.uid));
    await this.call("DELETE", `${claims}/${name}`);
  }

  /** With a class that retains volumes it would stay, and with it the disk that somebody pays for. */
  private async letGo(volume: string): Promise<void> {
    await this.call("PATCH", `${volumes}/${volume}`, { body: { spec: { persistentVolumeReclaimPolicy: "Delete" } } });
  }

  /** Of what is made and there already, or to be changed and gone, nothing is said. */
  private async call<T>(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    // Removals do not go by the signal of the wait: they are called when it has ended, too.
    { signal = new AbortController().signal, body }: { readonly signal?: AbortSignal; readonly body?: unknown } = {},
  ): Promise<T | undefined> {
    try {
      return await this.client.json<T>(path, { method, body, signal, patience });
    } catch (error) {
      const isDone = error instanceof KubernetesError && error.status === (method === "POST" ? 409 : 404);
      if (!isDone) throw error;
      return undefined;
    }
  }

  private claim() {
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: this.probe.storageClass,
        resources: { requests: { storage: this.probe.size } },
      },
    };
  }

  private pod() {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: {
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "pause",
            image: this.probe.image,
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            volumeMounts: [{ name: "volume", mountPath: "/volume" }],
          },
        ],
        volumes: [{ name: "volume", persistentVolumeClaim: { claimName: name } }],
      },
    };
  }
}

/** Whether a volume was made for a claim of that name here. Not one that was there before and took the claim: that is somebody's own. */
export function isOfProbe({ metadata, spec: { claimRef } }: PersistentVolume): boolean {
  return claimRef?.name === name && claimRef.namespace === namespace && metadata.name === volumeOf(claimRef.uid);
}

/** As the provisioner calls the volume that it makes for a claim. */
function volumeOf(uid = ""): string {
  return `pvc-${uid}`;
}
