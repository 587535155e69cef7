import { text } from "../model/untyped.ts";
import type { Condition } from "../waiting/condition.ts";
import type { ClusterFacts, SealedSecretsFacts } from "./clusterFacts.ts";
import { imageVersions } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { deploymentReady } from "./kubernetes/deploymentReady.ts";
import { fingerprintOf } from "./kubernetes/fingerprintOf.ts";
import type { SealedSecretsObservation, SealedSecretsReadyInputs } from "./kubernetes/watchSealedSecrets.ts";
import { imagesOf } from "./kubernetes/workloads.ts";
import { lazily } from "./lazily.ts";

type Facts = Pick<ClusterFacts, "kubeconfig" | "ground"> & { readonly sealedSecrets: SealedSecretsFacts };

/** The controller runs and decrypts with our key, so what is sealed in git can be decrypted, even after the cluster was recreated. */
export const sealedSecretsReady: GateDefinition<SealedSecretsReadyInputs, SealedSecretsObservation, Facts> = {
  name: "SealedSecretsReady",
  timeoutCode: "SLU-K114",
  resource: "sealed-secrets-ready",
  proves: "sealed-secrets is ready and uses the key of this environment",
  opensWhen: "the controller runs, and serves the certificate of this environment",
  timeout: { key: "sealedSecrets", seconds: 300 },
  canFlap: true,
  part: "sealedSecrets",
  inputs: ({ sealedSecrets: { namespace, controller, certificate } }) => ({
    namespace,
    controller,
    ...(certificate !== undefined && { certificate }),
  }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ sealedSecrets, ground }) => [...sealedSecrets.triggers, ...ground],
  conditions: ({ controller, certificate }) => [
    apiAnswers,
    deploymentReady(controller, "SLU-K114"),
    ...(certificate === undefined ? [] : [usesKey(certificate)]),
  ],
  observe: (inputs, signal, clock) =>
    lazily(async () => (await import("./kubernetes/watchSealedSecrets.ts")).watchSealedSecrets(inputs, signal, clock)),
  evidence: ({ deployments, controller, served }) => ({
    images: Object.assign({}, ...deployments.filter(({ metadata }) => metadata.name === controller).map(imagesOf)),
    ...(served !== undefined && "fingerprint" in served && { certificate: served.fingerprint }),
  }),
  words: ({ images, certificate }) =>
    `version ${imageVersions(images)}, ${certificate === undefined ? "its own key" : `sealing key ${text(certificate).slice(0, 11)}…`}`,
};

function usesKey(certificate: string): Condition<SealedSecretsObservation> {
  const wanted = fingerprintOf(certificate);
  return {
    phrase: "sealed-secrets to use the key of this environment",
    evaluate({ served, controller }) {
      const where = `Deployment ${controller}`;
      if (served === undefined)
        return [{ kind: "pending", where, reason: "was not asked for its certificate yet", unseen: true }];
      if ("fault" in served) return [{ kind: "pending", where, reason: served.fault }];
      if (served.fingerprint === wanted) return [];
      const reason = `its certificate is ${served.fingerprint}, not ${wanted}`;
      const remedy = `The controller reads its keys when it starts. Delete key secrets that it made itself (label sealedsecrets.bitnami.com/sealed-secrets-key), then its pod.`;
      return [{ kind: "failed", where, reason, code: "SLU-K114", remedy }];
    },
  };
}
