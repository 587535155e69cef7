import { apiAnswers } from "../kubernetes/observe.ts";
import { deploymentReady } from "./deploymentReady.ts";
import type { Condition, GateDefinition } from "./gateDefinition.ts";
import {
  fingerprintOf,
  type SealedSecretsLook,
  type SealedSecretsReadyInputs,
  watchSealedSecrets,
} from "./watchSealedSecrets.ts";
import { imagesOf } from "./workloads.ts";

/** The controller runs and decrypts with our key, so that what is sealed in git can be read, also after the cluster was made anew. */
export const sealedSecretsReady: GateDefinition<SealedSecretsReadyInputs, SealedSecretsLook> = {
  name: "SealedSecretsReady",
  timeoutCode: "SLU-K114",
  conditions: ({ controller, certificate }) => [
    apiAnswers,
    deploymentReady(controller, "SLU-K114"),
    ...(certificate === undefined ? [] : [usesKey(certificate)]),
  ],
  observe: watchSealedSecrets,
  evidence: ({ deployments, controller, served }) => ({
    images: Object.assign({}, ...deployments.filter(({ metadata }) => metadata.name === controller).map(imagesOf)),
    ...(served !== undefined && "fingerprint" in served && { certificate: served.fingerprint }),
  }),
};

function usesKey(certificate: string): Condition<SealedSecretsLook> {
  const wanted = fingerprintOf(certificate);
  return {
    phrase: "sealed-secrets to use the key of this environment",
    evaluate({ served, controller }) {
      const where = `Deployment ${controller}`;
      if (served === undefined)
        return [{ kind: "pending", where, reason: "is not asked for its certificate yet", unseen: true }];
      if ("fault" in served) return [{ kind: "pending", where, reason: served.fault }];
      if (served.fingerprint === wanted) return [];
      const reason = `its certificate is ${served.fingerprint}, not ${wanted}`;
      const remedy = `The controller reads its keys when it starts. Delete key secrets that it made itself (label sealedsecrets.bitnami.com/sealed-secrets-key), then its pod.`;
      return [{ kind: "failed", where, reason, code: "SLU-K114", remedy }];
    },
  };
}
