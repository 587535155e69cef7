import type { FailureCode } from "../../errors/catalogue.ts";
import { reasonOf } from "../../errors/reasonOf.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import { readKubeconfig } from "../../kubernetes/kubeconfig.ts";
import { callDeadlineMs, KubernetesObjects } from "../../kubernetes/kubernetesObjects.ts";
import type { Peer } from "../../model/peer.ts";
import { poll } from "../../waiting/poll.ts";
import { type NodeContext, using } from "../access/nodeAccess.ts";
import { asFailure } from "../access/nodeFailure.ts";
import type { TalosCredentials } from "../client/talosClient.ts";
import { withServer } from "../credentials/withServer.ts";

/**
 * A kubeconfig through which the Kubernetes API answers now, from the first control plane that has one and is ready. It needs only the Talos API, so it is
 * available even while the resource that provides the kubeconfig is still behind a gate.
 */
export async function administratorAccess(
  peers: readonly Peer[],
  credentials: TalosCredentials,
  context: NodeContext,
  until: number,
): Promise<string> {
  const look = async () => {
    const faults: string[] = [];
    for (const peer of peers) {
      try {
        return { found: await accessThrough(peer, credentials, context) };
      } catch (error) {
        faults.push(`${peer.name}: ${reasonOf(error)}`);
      }
    }
    const seen = faults.join("; ");
    context.report(`waits for the Kubernetes API: ${seen}`);
    return { late: new SluiceError({ code: "SLU-K101", seen }) };
  };
  return await poll(look, { ...context, until: () => until });
}

export interface AdministratorOptions {
  readonly peers: readonly Peer[];
  readonly credentials: TalosCredentials;
  /** The code of a failure that has none. */
  readonly late: FailureCode;
  /** Deadline, by the clock. */
  readonly until: number;
}

/** Repeats a call until it is answered: while control planes change, API servers may be busy for a while, and another one may answer. */
export async function asAdministrator<T>(
  call: (objects: KubernetesObjects, kubeconfig: string) => Promise<T>,
  { peers, credentials, late, until }: AdministratorOptions,
  context: NodeContext,
): Promise<T> {
  const attempt = async () => {
    try {
      const kubeconfig = await administratorAccess(peers, credentials, context, until);
      return { found: await call(new KubernetesObjects(kubeconfig, context.clock), kubeconfig) };
    } catch (error) {
      const failure = asFailure(error, late);
      if (!failure.retryable) throw failure;
      context.report(`${failure.seen}; retrying`);
      return { late: failure };
    }
  };
  return await poll(attempt, { ...context, until: () => until });
}

/** The kubeconfig of this control plane, if its API server is ready. */
export async function accessThrough(
  { talosAddress }: Peer,
  credentials: TalosCredentials,
  { access, clock }: Pick<NodeContext, "access" | "clock">,
): Promise<string> {
  const made = await using(access.configured(talosAddress, credentials), (client) =>
    client.kubeconfig({ deadlineSeconds: 5 }),
  );
  const { port } = new URL(readKubeconfig(made).server);
  const host = talosAddress.includes(":") ? `[${talosAddress}]` : talosAddress;
  const kubeconfig = withServer(made, `https://${host}:${port || 443}`);
  await new KubernetesClient(kubeconfig, clock).text("/readyz", {
    signal: new AbortController().signal,
    deadlineMs: callDeadlineMs,
  });
  return kubeconfig;
}
