import type { FailureCode } from "../errors/catalogue.ts";
import type { Condition } from "./gateDefinition.ts";
import { podVerdict, type Workloads } from "./workloads.ts";

/** Every replica of the Deployment current and available. */
export function deploymentReady(name: string, code: FailureCode): Condition<Workloads> {
  return {
    phrase: `${name} to be ready`,
    evaluate({ deployments, pods, events }) {
      const where = `Deployment ${name}`;
      const deployment = deployments.find(({ metadata }) => metadata.name === name);
      if (deployment === undefined) return [{ kind: "pending", where, reason: "is not there" }];
      const { replicas: wanted = 1, selector } = deployment.spec;
      const { observedGeneration, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = deployment.status ?? {};
      const isCurrent = observedGeneration === deployment.metadata.generation;
      if (isCurrent && replicas === wanted && updatedReplicas === wanted && availableReplicas === wanted) return [];
      const own = pods.filter(({ metadata }) => matches(metadata.labels, selector.matchLabels));
      const byPod = own.flatMap((pod) => podVerdict(pod, events, code, pod.spec?.nodeName ?? where));
      if (byPod.length > 0) return byPod;
      const refused = deployment.status?.conditions?.find(
        ({ type, status }) => type === "ReplicaFailure" && status === "True",
      );
      const why = refused === undefined ? "" : `: ${refused.message}`;
      return [{ kind: "pending", where, reason: `${availableReplicas} of ${wanted} replicas are available${why}` }];
    },
  };
}

function matches(
  labels: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
