import { X509Certificate } from "node:crypto";
import { KubernetesClient } from "../kubernetes/client.ts";
import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import { type Clock, pause } from "./clock.ts";
import { deploymentReady } from "./deploymentReady.ts";
import type { Condition, GateDefinition } from "./gateDefinition.ts";
import { imagesOf, type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface SealedSecretsReadyInputs {
  readonly credentials: KubernetesCredentials;
  readonly namespace: string;
  /** Of the Deployment and of its Service. */
  readonly controller: string;
  /** The certificate that secrets are sealed for, as PEM; where there is none, any key will do. */
  readonly certificate?: string;
}

type Observation = Observed<WorkloadKinds> & {
  readonly controller: string;
  /** SHA-256 of the certificate that the controller hands out, or why it hands out none. */
  readonly served?: { readonly fingerprint: string } | { readonly fault: string };
};

/** The controller runs and decrypts with our key, so that what is sealed in git can be read, also after the cluster was made anew. */
export const sealedSecretsReady: GateDefinition<SealedSecretsReadyInputs, Observation> = {
  name: "SealedSecretsReady",
  timeoutCode: "SLU-K114",
  conditions: ({ controller, certificate }) => [
    apiAnswers,
    deploymentReady(controller, "SLU-K114"),
    ...(certificate === undefined ? [] : [usesKey(certificate)]),
  ],
  observe: look,
  evidence: ({ deployments, controller, served }) => ({
    images: Object.assign({}, ...deployments.filter(({ metadata }) => metadata.name === controller).map(imagesOf)),
    ...(served !== undefined && "fingerprint" in served && { certificate: served.fingerprint }),
  }),
};

function usesKey(certificate: string): Condition<Observation> {
  const wanted = fingerprintOf(certificate);
  return {
    phrase: "sealed-secrets to use the key of this environment",
    evaluate({ served, controller }) {
      const where = `Deployment ${controller}`;
      if (served === undefined) return [{ kind: "pending", where, reason: "is not asked for its certificate yet" }];
      if ("fault" in served) return [{ kind: "pending", where, reason: served.fault }];
      if (served.fingerprint === wanted) return [];
      const reason = `its certificate is ${served.fingerprint}, not ${wanted}`;
      const remedy = `The controller reads its keys when it starts. Delete key secrets that it made itself (label sealedsecrets.bitnami.com/sealed-secrets-key), then its pod.`;
      return [{ kind: "failed", where, reason, code: "SLU-K114", remedy }];
    },
  };
}

async function* look(inputs: SealedSecretsReadyInputs, signal: AbortSignal, clock: Clock): AsyncGenerator<Observation> {
  const { credentials, namespace, controller, certificate } = inputs;
  const client = new KubernetesClient(credentials.kubeconfig, clock);
  const isReady = deploymentReady(controller, "SLU-K114");
  for await (const seen of observe<WorkloadKinds>(credentials, workloadPaths(namespace), signal, clock)) {
    if (certificate === undefined || isReady.evaluate(seen).length > 0) {
      yield { ...seen, controller };
      continue;
    }
    // What a service says cannot be watched; it is asked until it answers, and again when its pods change.
    for (let asks = true; asks && !signal.aborted; ) {
      const served = await servedBy(client, namespace, controller, signal);
      yield { ...seen, controller, served };
      asks = "fault" in served;
      if (asks) await pause(clock, 250, signal);
    }
  }
}

async function servedBy(client: KubernetesClient, namespace: string, service: string, signal: AbortSignal) {
  try {
    const path = `/api/v1/namespaces/${namespace}/services/http:${service}:http/proxy/v1/cert.pem`;
    return { fingerprint: fingerprintOf(await client.text(path, { signal, patience: 2_000 })) };
  } catch (error) {
    return { fault: `does not hand out its certificate: ${(error as Error).message}` };
  }
}

function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}
