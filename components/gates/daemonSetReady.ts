import type { FailureCode } from "../errors/catalogue.ts";
import type { KubernetesEvent, KubernetesObject, Pod } from "../kubernetes/objects.ts";
import type { Condition } from "./gateDefinition.ts";
import { podVerdict, type Workloads } from "./workloads.ts";

/** A pod of the DaemonSet that is current and ready on every one of these nodes, whatever the DaemonSet itself counts. */
export function daemonSetOnNodes(name: string, nodes: readonly string[], code: FailureCode): Condition<Workloads> {
  return {
    phrase: `${name} to be ready on every node`,
    evaluate({ daemonSets, pods, events }) {
      const daemonSet = daemonSets.find(({ metadata }) => metadata.name === name);
      if (daemonSet === undefined) return [{ kind: "pending", where: `DaemonSet ${name}`, reason: "is not there" }];
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
          },
        ];
      });
      const { observedGeneration = 0, desiredNumberScheduled = 0, updatedNumberScheduled = 0 } = daemonSet.status ?? {};
      if (byNode.length > 0) return byNode;
      if (observedGeneration === daemonSet.metadata.generation && updatedNumberScheduled >= desiredNumberScheduled)
        return [];
      const reason = `${updatedNumberScheduled} of ${desiredNumberScheduled} pods are of its current version`;
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
