// The calls that bring another Talos onto a node's disk. Talos 1.13 has services for that; before, one call does everything.
import type { CallOptions, NodeConnection } from "./connection.ts";

/** What an installer prints, and how it exited: 0 if it succeeded. */
export type InstallerOutput = { readonly text: string } | { readonly exitCode: number };

/** How much of an image has arrived. */
export interface PullProgress {
  readonly bytes: number;
  readonly ofBytes: number;
}

/** Of Talos' own services, or of pods. */
export type ImageNamespace = "SYSTEM" | "PODS";

export interface PullOptions extends CallOptions {
  /** Default: SYSTEM. */
  readonly namespace?: ImageNamespace;
}

/** As talosctl does: the containerd that keeps its images on disk. */
const driver = "CRI";

export class SystemCalls {
  readonly #connection: NodeConnection;

  constructor(connection: NodeConnection) {
    this.#connection = connection;
  }

  /** Pulls an image; does nothing if it is there. Ends once it is complete. Since Talos 1.13. */
  async *pull(reference: string, { namespace = "SYSTEM", ...options }: PullOptions): AsyncGenerator<PullProgress> {
    const layers = new Map<string, PullProgress>();
    const request = { containerd: { driver, namespace }, imageRef: reference };
    for await (const { pullProgress } of this.#connection.stream("image", "Pull", request, options)) {
      if (!pullProgress) continue;
      const { layerId, progress } = pullProgress;
      layers.set(layerId, { bytes: Number(progress?.offset ?? 0), ofBytes: Number(progress?.total ?? 0) });
      yield sum([...layers.values()]);
    }
  }

  /** The same, and the only way before Talos 1.13, without progress. */
  async pullSilently(reference: string, { namespace = "SYSTEM", ...options }: PullOptions): Promise<void> {
    await this.#connection.call("machine", "ImagePull", { namespace, reference }, options);
  }

  /**
   * Runs an installer, whose image must be there. What it installs runs from the next boot on, which this does not cause. An installer that has started runs to
   * its end even if the stream breaks. Since Talos 1.13.
   */
  async *install(image: string, options: CallOptions): AsyncGenerator<InstallerOutput> {
    const request = { containerd: { driver, namespace: "SYSTEM" }, source: { imageName: image } };
    for await (const { progress } of this.#connection.stream("lifecycle", "Upgrade", request, options)) {
      if (progress?.message !== undefined) yield { text: progress.message };
      if (progress?.exitCode !== undefined) yield { exitCode: progress.exitCode };
    }
  }

  /**
   * Pulls the image, asks etcd whether the node may leave it for a while, and answers; then the node stops everything, runs the installer and reboots. Both
   * `force` and `preserve` stay false, because with them Talos does not ask etcd.
   */
  async upgrade(image: string, options: CallOptions): Promise<void> {
    await this.#connection.call("machine", "Upgrade", { image }, options);
  }
}

function sum(layers: readonly PullProgress[]): PullProgress {
  return {
    bytes: layers.reduce((all, { bytes }) => all + bytes, 0),
    ofBytes: layers.reduce((all, { ofBytes }) => all + ofBytes, 0),
  };
}
