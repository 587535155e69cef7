// What the gate on sealed-secrets looks at: how its controller runs, and which certificate it hands out.
import { X509Certificate } from "node:crypto";
import { KubernetesClient } from "../kubernetes/client.ts";
import { type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import { type Clock, pause } from "./clock.ts";
import { deploymentReady } from "./deploymentReady.ts";
import { together } from "./together.ts";
import { type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface SealedSecretsReadyInputs {
  readonly credentials: KubernetesCredentials;
  readonly namespace: string;
  /** Of the Deployment and of its Service. */
  readonly controller: string;
  /** The certificate that secrets are sealed for, as PEM; where there is none, any key will do. */
  readonly certificate?: string;
}

export type SealedSecretsLook = Observed<WorkloadKinds> & {
  readonly controller: string;
  /** SHA-256 of the certificate that the controller hands out, or why it hands out none. */
  readonly served?: { readonly fingerprint: string } | { readonly fault: string } | undefined;
};
type See = (part: Partial<SealedSecretsLook>) => void;

/** Milliseconds from an answer to the next question. */
const askEvery = 250;

/** What a service says cannot be watched: it is asked for as long as the controller is ready, beside the watch of why it is not. */
export function watchSealedSecrets(
  inputs: SealedSecretsReadyInputs,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<SealedSecretsLook> {
  const { credentials, namespace, controller, certificate } = inputs;
  const client = new KubernetesClient(credentials.kubeconfig, clock);
  const isReady = deploymentReady(controller, "SLU-K114");
  const ask = async (see: See, ended: AbortSignal) => {
    while (!ended.aborted) {
      const served = await servedBy(client, namespace, controller, ended);
      if (!ended.aborted) see({ served });
      await pause(clock, askEvery, ended);
    }
  };
  const work = async (see: See) => {
    let ready: AbortController | undefined;
    for await (const seen of observe<WorkloadKinds>(credentials, workloadPaths(namespace), signal, clock)) {
      const isUp = certificate !== undefined && isReady.evaluate(seen).length === 0;
      if (!isUp) {
        // What its pods have handed out so far says nothing of those that come after them.
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
  return together<SealedSecretsLook>({ ...nothing, controller }, [work], signal);
}

async function servedBy(client: KubernetesClient, namespace: string, service: string, signal: AbortSignal) {
  try {
    const path = `/api/v1/namespaces/${namespace}/services/http:${service}:http/proxy/v1/cert.pem`;
    return { fingerprint: fingerprintOf(await client.text(path, { signal, patience: 2_000 })) };
  } catch (error) {
    return { fault: `does not hand out its certificate: ${(error as Error).message}` };
  }
}

export function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}
