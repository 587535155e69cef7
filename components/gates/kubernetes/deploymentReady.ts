import type { FailureCode } from "../../errors/catalogue.ts";
import type { Condition } from "../../waiting/condition.ts";
import { absentRemedy, podVerdict, type Workloads } from "./workloads.ts";

const noPodRemedy =
  "Kubernetes has not made a pod for it: check its events (`kubectl describe deployment --all-namespaces`) and the controller manager (`kubectl get pods --namespace kube-system`).";

/** Every replica of the Deployment is current and available. */
export function deploymentReady(name: string, code: FailureCode): Condition<Workloads> {
  return {
    phrase: `${name} to be ready`,
    evaluate({ deployments, pods, events }) {
      const where = `Deployment ${name}`;
      const deployment = deployments.find(({ metadata }) => metadata.name === name);
      if (deployment === undefined) return [{ kind: "pending", where, reason: "does not exist", remedy: absentRemedy }];
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
      const reason = `${availableReplicas} of ${wanted} replicas are available${why}`;
      return [{ kind: "pending", where, reason, ...(own.length === 0 && { remedy: noPodRemedy }) }];
    },
  };
}

function matches(
  labels: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
