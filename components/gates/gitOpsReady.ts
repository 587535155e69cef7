import type { KubernetesCredentials, Observed } from "../kubernetes/observe.ts";
import { record } from "../model/untyped.ts";
import type { Clock } from "../waiting/clock.ts";
import type { ClusterFacts, GitOpsFacts } from "./clusterFacts.ts";
import { distinct, keys, shortRevision } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { deploymentReady } from "./kubernetes/deploymentReady.ts";
import { notSuspended } from "./kubernetes/fluxNotSuspended.ts";
import { type FluxKinds, type FluxRoot, fluxPaths } from "./kubernetes/fluxObjects.ts";
import { reconciled } from "./kubernetes/fluxReconciled.ts";
import { asAsked, type FluxAsked, fetched, hasNewest } from "./kubernetes/fluxSource.ts";
import { type SealedSecret, sealedSecretsOpened } from "./kubernetes/sealedSecretsDecrypted.ts";
import { type WorkloadKinds, workloadPaths } from "./kubernetes/workloads.ts";

export interface GitOpsReadyInputs extends FluxRoot, FluxAsked {
  readonly credentials: KubernetesCredentials;
  /** Flux' Deployments. */
  readonly controllers: readonly string[];
}

type Kinds = WorkloadKinds & FluxKinds & { sealedSecrets: SealedSecret };
type Observation = Observed<Kinds> & { readonly watched: number };

type Facts = Pick<ClusterFacts, "kubeconfig" | "ground"> & { readonly gitOps: GitOpsFacts };

/** Flux runs and has fetched the repository, and what the root Kustomization applies is healthy. */
export const gitOpsReady: GateDefinition<GitOpsReadyInputs, Observation, Facts> = {
  name: "GitOpsReady",
  timeoutCode: "SLU-K115",
  resource: "gitops-ready",
  proves: "Flux has reconciled the repository",
  opensWhen:
    "Flux' controllers run and use the environment's source, nothing that comes from the repository was suspended by hand, the repository is fetched (at `flux.revision` if set), the root Kustomization and those it creates are applied at its commit and healthy",
  timeout: { key: "gitops", seconds: 600 },
  canFlap: true,
  part: "gitOps",
  inputs: ({ gitOps: { namespace, controllers, root, url, branch, path, revision } }) => ({
    namespace,
    controllers,
    source: root,
    root,
    url,
    branch,
    path,
    ...(revision !== undefined && { revision }),
  }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ gitOps, ground }) => [...gitOps.triggers, ...ground],
  secretTriggers: ({ gitOps }) => gitOps.secretTriggers,
  conditions: (inputs) => [
    apiAnswers,
    ...inputs.controllers.map((name) => deploymentReady(name, "SLU-K115")),
    asAsked(inputs, inputs),
    notSuspended(inputs),
    fetched(inputs, inputs),
    sealedSecretsOpened<Observation>(hasNewest(inputs)),
    reconciled(inputs),
  ],
  observe: (inputs, signal, clock) => look(inputs, signal, clock),
  evidence: ({ kustomizations }, { namespace: own }) => ({
    revisions: Object.fromEntries(
      kustomizations.map(({ metadata: { name, namespace }, status }) => [
        namespace === own ? name : `${namespace}/${name}`,
        status?.lastAppliedRevision ?? "",
      ]),
    ),
  }),
  words: ({ revisions }) =>
    `${keys(revisions).join(", ")} at ${distinct(Object.values(record(revisions)).map(shortRevision))}`,
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
  const { observe } = await import("../kubernetes/observe.ts");
  const began = clock.now();
  for await (const seen of observe<Kinds>(credentials, paths, signal, clock)) {
    yield { ...seen, watched: (clock.now() - began) / 1000 };
  }
}
