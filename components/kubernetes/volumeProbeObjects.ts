import { changeObject } from "./changeObject.ts";
import type { KubernetesClient } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";
import { probeName as name, type PersistentVolume, probeNamespace, type VolumeProbe, volumeOf } from "./volumeProbe.ts";

const core = `/api/v1/namespaces/${probeNamespace}`;
const [pods, claims, volumes] = [`${core}/pods`, `${core}/persistentvolumeclaims`, "/api/v1/persistentvolumes"];

/** A claim and a pod that uses it, always with the same names, so that the next run finds what an earlier run left behind. */
export class VolumeProbeObjects {
  /** The lists to watch: the claim and the pod, their volume, and events about them. */
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

  /** Undefined if both are created, else why not. What was created so far remains. */
  async make(signal: AbortSignal): Promise<string | undefined> {
    try {
      await changeObject(this.client, "POST", claims, { signal, body: this.claim() });
      await changeObject(this.client, "POST", pods, { signal, body: this.pod() });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /**
   * Requests the deletion of the pod, the claim, and the volumes of earlier claims. Undefined if that succeeded, else why not: then it has to be requested
   * again. The watches show when they are gone.
   */
  async remove(left: readonly PersistentVolume[] = []): Promise<string | undefined> {
    const calls = [
      changeObject(this.client, "DELETE", `${pods}/${name}`),
      this.removeClaim(),
      ...left.map(({ metadata }) => this.letGo(metadata.name)),
    ];
    const failed = (await Promise.allSettled(calls)).find(({ status }) => status === "rejected");
    return failed === undefined ? undefined : `cannot be removed: ${(failed as PromiseRejectedResult).reason.message}`;
  }

  private async removeClaim(): Promise<void> {
    const claim = await changeObject<KubernetesObject>(this.client, "GET", `${claims}/${name}`);
    if (claim === undefined) return;
    await this.letGo(volumeOf(claim.metadata.uid));
    await changeObject(this.client, "DELETE", `${claims}/${name}`);
  }

  /** With a class that retains volumes the volume would stay, and with it a disk that costs money. */
  private async letGo(volume: string): Promise<void> {
    const body = { spec: { persistentVolumeReclaimPolicy: "Delete" } };
    await changeObject(this.client, "PATCH", `${volumes}/${volume}`, { body });
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
