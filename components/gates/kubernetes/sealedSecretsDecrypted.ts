import type { KubernetesObject, StatusCondition } from "../../kubernetes/objects.ts";
import type { Condition } from "../../waiting/condition.ts";

/** A SealedSecret with its controller's status. */
export interface SealedSecret extends KubernetesObject {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly StatusCondition[] };
}

/** Flux waits for a missing Secret until its timeout and then reports only that it is missing. The controller reports the cause much earlier. */
export function sealedSecretsOpened<Observation extends { readonly sealedSecrets: readonly SealedSecret[] }>(
  isNewest: (observation: Observation) => boolean,
): Condition<Observation> {
  return {
    phrase: "every SealedSecret of the repository to be decrypted",
    evaluate: (observation) =>
      observation.sealedSecrets.filter(isFromGit).flatMap(({ metadata, status }) => {
        const synced = status?.conditions?.find(({ type }) => type === "Synced");
        const isOfNow = status?.observedGeneration === metadata.generation;
        if (synced?.status !== "False" || !isOfNow) return [];
        const where = `SealedSecret ${metadata.namespace}/${metadata.name}`;
        const reason = synced.message ?? "its controller reports no reason";
        // The controller tries again only when the object changes, which needs another commit.
        return [{ kind: isNewest(observation) ? "failed" : "pending", where, reason, code: "SLU-K118" }];
      }),
  };
}

function isFromGit({ metadata }: SealedSecret): boolean {
  return metadata.labels?.["kustomize.toolkit.fluxcd.io/name"] !== undefined;
}
