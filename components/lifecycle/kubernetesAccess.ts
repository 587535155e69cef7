import type { Clock } from "../gates/clock.ts";
import { KubernetesClient } from "../kubernetes/client.ts";
import { readKubeconfig } from "../kubernetes/kubeconfig.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { using, type World } from "../talos/nodeAccess.ts";
import { NodeFailure } from "../talos/nodeFailure.ts";
import { repeat } from "../talos/repeat.ts";
import { withServer } from "../talos/withServer.ts";

/** A control plane as it is asked for the others. */
export interface Peer {
  readonly node: string;
  /** Where the machine is reached from here. */
  readonly endpoint: string;
  /** In the node network. */
  readonly address: string;
}

/** Milliseconds that the Kubernetes API may take to answer. */
export const patience = 5_000;

/**
 * A kubeconfig by which the Kubernetes API answers now: of the first control plane that has one and is ready. Needs nothing but the Talos API, so it is to
 * be had also while what hands a kubeconfig out is still behind a gate.
 */
export async function administratorAccess(
  peers: readonly Peer[],
  credentials: TalosCredentials,
  world: World,
  until: number,
): Promise<string> {
  const look = async () => {
    const faults: string[] = [];
    for (const peer of peers) {
      try {
        return { found: await accessThrough(peer, credentials, world) };
      } catch (error) {
        faults.push(`${peer.node}: ${(error as Error).message}`);
      }
    }
    const seen = faults.join("; ");
    world.report(`waits for the Kubernetes API: ${seen}`);
    return { late: new NodeFailure("SLU-K101", seen) };
  };
  return await repeat(look, { ...world, until: () => until });
}

/** The one that this control plane has, where its API server is ready. */
export async function accessThrough(
  { endpoint }: Peer,
  credentials: TalosCredentials,
  { access, clock }: Pick<World, "access" | "clock">,
): Promise<string> {
  const made = await using(access.configured(endpoint, credentials), (client) => client.kubeconfig({ deadline: 5 }));
  const { port } = new URL(readKubeconfig(made).server);
  const host = endpoint.includes(":") ? `[${endpoint}]` : endpoint;
  const kubeconfig = withServer(made, `https://${host}:${port || 443}`);
  await new KubernetesClient(kubeconfig, clock).text("/readyz", { signal: new AbortController().signal, patience });
  return kubeconfig;
}

/** Calls for single objects, each bounded. */
export class KubernetesObjects {
  private readonly client: KubernetesClient;

  constructor(kubeconfig: string, clock: Clock) {
    this.client = new KubernetesClient(kubeconfig, clock);
  }

  /** Nothing where there is no such object. */
  async get<T>(path: string): Promise<T | undefined> {
    return await this.unlessGone(async () => JSON.parse(await this.call("GET", path)));
  }

  async patch(path: string, body: unknown): Promise<void> {
    await this.unlessGone(() => this.call("PATCH", path, body));
  }

  /** Asks for a pod to go, as budgets allow it; one that is gone already is not missed. */
  async evict(path: string, body: unknown): Promise<void> {
    await this.unlessGone(() => this.call("POST", path, body));
  }

  async remove(path: string): Promise<void> {
    await this.unlessGone(() => this.call("DELETE", path));
  }

  private call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<string> {
    return this.client.text(path, { method, body, signal: new AbortController().signal, patience });
  }

  private async unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if ((error as { readonly status?: unknown }).status === 404) return undefined;
      throw error;
    }
  }
}
