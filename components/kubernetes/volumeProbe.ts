import type { KubernetesClient } from "./client.ts";
import { KubernetesError } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";

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
const core = "/api/v1/namespaces/kube-system";
const parts = ["pods", "persistentvolumeclaims"];
const patience = 2_000;

/** A claim and a pod that uses it, always under the same name, so that what a run has left is found by the next. */
export class VolumeProbeObjects {
  static readonly called = name;
  /** Where they are watched, with the volume that is made for them and what is said of them. */
  static readonly paths = {
    pods: `${core}/pods?fieldSelector=metadata.name%3D${name}`,
    claims: `${core}/persistentvolumeclaims?fieldSelector=metadata.name%3D${name}`,
    volumes: "/api/v1/persistentvolumes",
    events: `${core}/events?fieldSelector=involvedObject.name%3D${name}`,
  };

  private readonly client: KubernetesClient;
  private readonly probe: VolumeProbe;

  constructor(client: KubernetesClient, probe: VolumeProbe) {
    this.client = client;
    this.probe = probe;
  }

  /** Undefined when both are made, else why they are not. */
  async make(signal: AbortSignal): Promise<string | undefined> {
    try {
      for (const [part, body] of [
        ["persistentvolumeclaims", this.claim()],
        ["pods", this.pod()],
      ] as const) {
        await this.call("POST", `${core}/${part}`, signal, body);
      }
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Asks for the removal of what is there and not on its way out. Whether it goes is seen, and if it does not, asked for again. */
  async remove(there?: readonly KubernetesObject[]): Promise<void> {
    if (there !== undefined && !there.some(({ metadata }) => metadata.deletionTimestamp === undefined)) return;
    // Not by the signal of the wait: it is called when the wait has ended, too.
    const { signal } = new AbortController();
    const calls = parts.map((part) => this.call("DELETE", `${core}/${part}/${name}`, signal));
    await Promise.allSettled(calls);
  }

  private async call(method: "POST" | "DELETE", path: string, signal: AbortSignal, body?: unknown): Promise<void> {
    try {
      await this.client.text(path, { method, body, signal, patience });
    } catch (error) {
      const isThere = method === "POST" && error instanceof KubernetesError && error.status === 409;
      if (!isThere) throw error;
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
