import type { FailureCode } from "../../errors/catalogue.ts";
import type { KubernetesEvent, KubernetesObject, Pod } from "../../kubernetes/objects.ts";
import type { Condition } from "../../waiting/condition.ts";
import { absentRemedy, podVerdict, type Workloads } from "./workloads.ts";

/** Every one of these nodes has a current and ready pod of the DaemonSet, whatever the DaemonSet itself counts. */
export function daemonSetOnNodes(
  name: string,
  nodes: readonly string[],
  code: FailureCode,
): Condition<Omit<Workloads, "deployments">> {
  return {
    phrase: `${name} to be ready on every node`,
    evaluate({ daemonSets, pods, events }) {
      const daemonSet = daemonSets.find(({ metadata }) => metadata.name === name);
      if (daemonSet === undefined) {
        return [{ kind: "pending", where: `DaemonSet ${name}`, reason: "does not exist", remedy: absentRemedy }];
      }
      const own = pods.filter((pod) => isOwnedBy(pod, daemonSet));
      const byNode = nodes.flatMap((node) => {
        const there = own.filter(({ spec }) => spec?.nodeName === node);
        const [pod] = there.toSorted((one, other) => age(other).localeCompare(age(one)));
        if (pod !== undefined) return podVerdict(pod, events, code, node);
        return [
          {
            kind: "pending" as const,
            where: node,
            reason: `has no pod of DaemonSet ${name}${lastEvent(daemonSet, events)}`,
            remedy: `Kubernetes has not made a pod for the node: check the events of the DaemonSet (\`kubectl describe daemonset --all-namespaces\`), and the controller manager and the scheduler, which make and place it (\`kubectl get pods --namespace kube-system\`).`,
          },
        ];
      });
      const { observedGeneration = 0, desiredNumberScheduled = 0, updatedNumberScheduled = 0 } = daemonSet.status ?? {};
      if (byNode.length > 0) return byNode;
      if (observedGeneration === daemonSet.metadata.generation && updatedNumberScheduled >= desiredNumberScheduled)
        return [];
      const reason = `${updatedNumberScheduled} of ${desiredNumberScheduled} pods have its current version`;
      return [{ kind: "pending", where: `DaemonSet ${name}`, reason }];
    },
  };
}

function isOwnedBy({ metadata }: Pod, owner: KubernetesObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

function age({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? "";
}

function lastEvent(object: KubernetesObject, events: readonly KubernetesEvent[]): string {
  const last = events.findLast(
    ({ involvedObject, type }) => involvedObject.uid === object.metadata.uid && type === "Warning",
  );
  return last === undefined ? "" : `: ${last.message}`;
}
