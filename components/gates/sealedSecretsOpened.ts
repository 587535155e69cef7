import type { KubernetesObject, StatusCondition } from "../kubernetes/objects.ts";
import type { Condition } from "./gateDefinition.ts";

/** As the sealed-secrets controller keeps it. */
export interface SealedSecret extends KubernetesObject {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly StatusCondition[] };
}

/** Flux waits for a Secret until time is up and then says that it is not there; why it is not, the controller has said long before. */
export function sealedSecretsOpened<Observation extends { readonly sealedSecrets: readonly SealedSecret[] }>(
  isNewest: (observation: Observation) => boolean,
): Condition<Observation> {
  return {
    phrase: "every sealed secret of the repository to be opened",
    evaluate: (observation) =>
      observation.sealedSecrets.filter(isFromGit).flatMap(({ metadata, status }) => {
        const synced = status?.conditions?.find(({ type }) => type === "Synced");
        const isOfNow = status?.observedGeneration === metadata.generation;
        if (synced?.status !== "False" || !isOfNow) return [];
        const where = `SealedSecret ${metadata.namespace}/${metadata.name}`;
        const reason = synced.message ?? "its controller does not say why";
        // It is tried again when it changes, and that takes another commit.
        return [{ kind: isNewest(observation) ? "failed" : "pending", where, reason, code: "SLU-K118" }];
      }),
  };
}

function isFromGit({ metadata }: SealedSecret): boolean {
  return metadata.labels?.["kustomize.toolkit.fluxcd.io/name"] !== undefined;
}
