// The observations of the gate SealedSecretsReady: the controller's pods, and the certificate that it serves.
import { KubernetesClient } from "../../kubernetes/client.ts";
import { type KubernetesCredentials, type Observed, observe } from "../../kubernetes/observe.ts";
import type { Clock } from "../../waiting/clock.ts";
import { mergeObservations } from "../../waiting/mergeObservations.ts";
import { BackOff, every, rounds } from "../../waiting/rounds.ts";
import { deploymentReady } from "./deploymentReady.ts";
import { fingerprintOf } from "./fingerprintOf.ts";
import { type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface SealedSecretsReadyInputs {
  readonly credentials: KubernetesCredentials;
  readonly namespace: string;
  /** The name of the Deployment and of its Service. */
  readonly controller: string;
  /** The certificate that secrets are sealed for, as PEM; undefined if any key is accepted. */
  readonly certificate?: string;
}

export type SealedSecretsObservation = Observed<WorkloadKinds> & {
  readonly controller: string;
  /** SHA-256 of the certificate that the controller serves, or why it serves none. */
  readonly served?: { readonly fingerprint: string } | { readonly fault: string } | undefined;
};
type See = (part: Partial<SealedSecretsObservation>) => void;

/** Milliseconds between an answer and the next request. */
const askIntervalMs = 250;

/** The certificate cannot be watched, so it is polled while the controller is ready, next to the watch of its pods. */
export function watchSealedSecrets(
  inputs: SealedSecretsReadyInputs,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<SealedSecretsObservation> {
  const { credentials, namespace, controller, certificate } = inputs;
  const client = new KubernetesClient(credentials.kubeconfig, clock);
  const isReady = deploymentReady(controller, "SLU-K114");
  const ask = async (see: See, ended: AbortSignal) => {
    for await (const _ of rounds({ clock, backOff: new BackOff(every(askIntervalMs)), signal: ended })) {
      const served = await servedBy(client, namespace, controller, ended);
      if (!ended.aborted) see({ served });
    }
  };
  const work = async (see: See) => {
    let ready: AbortController | undefined;
    for await (const seen of observe<WorkloadKinds>(credentials, workloadPaths(namespace), signal, clock)) {
      const isUp = certificate !== undefined && isReady.evaluate(seen).length === 0;
      if (!isUp) {
        // An answer of the previous pods says nothing about the new ones.
        ready?.abort();
        ready = undefined;
      }
      see(isUp ? seen : { ...seen, served: undefined });
      if (!isUp || ready !== undefined) continue;
      ready = new AbortController();
      void ask(see, AbortSignal.any([signal, ready.signal]));
    }
  };
  const nothing = { daemonSets: [], deployments: [], pods: [], events: [], unreachable: undefined };
  return mergeObservations<SealedSecretsObservation>({ ...nothing, controller }, [work], signal);
}

async function servedBy(client: KubernetesClient, namespace: string, service: string, signal: AbortSignal) {
  try {
    const path = `/api/v1/namespaces/${namespace}/services/http:${service}:http/proxy/v1/cert.pem`;
    return { fingerprint: fingerprintOf(await client.text(path, { signal, deadlineMs: 2_000 })) };
  } catch (error) {
    return { fault: `does not serve its certificate: ${(error as Error).message}` };
  }
}
