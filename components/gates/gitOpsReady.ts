import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import type { Clock } from "./clock.ts";
import { deploymentReady } from "./deploymentReady.ts";
import { heeded } from "./fluxHeeded.ts";
import { type FluxKinds, type FluxRoot, fluxPaths } from "./fluxObjects.ts";
import { reconciled } from "./fluxReconciled.ts";
import { asAsked, type FluxAsked, fetched, hasNewest } from "./fluxSource.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { type SealedSecret, sealedSecretsOpened } from "./sealedSecretsOpened.ts";
import { type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface GitOpsReadyInputs extends FluxRoot, FluxAsked {
  readonly credentials: KubernetesCredentials;
  /** Flux' Deployments. */
  readonly controllers: readonly string[];
}

type Kinds = WorkloadKinds & FluxKinds & { sealedSecrets: SealedSecret };
type Observation = Observed<Kinds> & { readonly watched: number };

/** Flux runs, has fetched the repository, and what the root Kustomization names is applied and healthy. */
export const gitOpsReady: GateDefinition<GitOpsReadyInputs, Observation> = {
  name: "GitOpsReady",
  timeoutCode: "SLU-K115",
  conditions: (inputs) => [
    apiAnswers,
    ...inputs.controllers.map((name) => deploymentReady(name, "SLU-K115")),
    asAsked(inputs, inputs),
    heeded(inputs),
    fetched(inputs, inputs),
    sealedSecretsOpened<Observation>(hasNewest(inputs)),
    reconciled(inputs),
  ],
  observe: look,
  evidence: ({ kustomizations }, { namespace: own }) => ({
    revisions: Object.fromEntries(
      kustomizations.map(({ metadata: { name, namespace }, status }) => [
        namespace === own ? name : `${namespace}/${name}`,
        status?.lastAppliedRevision ?? "",
      ]),
    ),
  }),
};

async function* look(
  { credentials, namespace }: GitOpsReadyInputs,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<Observation> {
  const paths = {
    ...workloadPaths(namespace),
    ...fluxPaths,
    sealedSecrets: "/apis/bitnami.com/v1alpha1/sealedsecrets",
  };
  const began = clock.now();
  for await (const seen of observe<Kinds>(credentials, paths, signal, clock)) {
    yield { ...seen, watched: (clock.now() - began) / 1000 };
  }
}
