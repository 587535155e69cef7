import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import type { Clock } from "./clock.ts";
import { deploymentReady } from "./deploymentReady.ts";
import { type FluxKinds, fetched, hasNewest, heeded, reconciled } from "./fluxConditions.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { type SealedSecret, sealedSecretsOpened } from "./sealedSecretsOpened.ts";
import { type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface GitOpsReadyInputs {
  readonly credentials: KubernetesCredentials;
  readonly namespace: string;
  /** Flux' Deployments. */
  readonly controllers: readonly string[];
  /** The GitRepository and the Kustomization that the cluster begins with. */
  readonly source: string;
  readonly root: string;
  /** A commit that has to be applied; without one it is the newest that Flux has fetched. */
  readonly revision?: string;
}

type Kinds = WorkloadKinds & FluxKinds & { sealedSecrets: SealedSecret };
type Observation = Observed<Kinds> & { readonly watched: number };

/** Flux runs, has fetched the repository, and what the root Kustomization names is applied and healthy. */
export const gitOpsReady: GateDefinition<GitOpsReadyInputs, Observation> = {
  name: "GitOpsReady",
  timeoutCode: "SLU-K115",
  conditions: ({ controllers, source, root, revision }) => [
    apiAnswers,
    ...controllers.map((name) => deploymentReady(name, "SLU-K115")),
    heeded(source, root),
    fetched(source, revision),
    sealedSecretsOpened<Observation>(hasNewest(source)),
    reconciled(source, root),
  ],
  observe: look,
  evidence: ({ kustomizations }) => ({
    revisions: Object.fromEntries(
      kustomizations.map(({ metadata, status }) => [metadata.name, status?.lastAppliedRevision ?? ""]),
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
    sources: `/apis/source.toolkit.fluxcd.io/v1/namespaces/${namespace}/gitrepositories`,
    sealedSecrets: "/apis/bitnami.com/v1alpha1/sealedsecrets",
    kustomizations: `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations`,
  };
  const began = clock.now();
  for await (const seen of observe<Kinds>(credentials, paths, signal, clock)) {
    yield { ...seen, watched: (clock.now() - began) / 1000 };
  }
}
