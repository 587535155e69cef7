// Starts a pod on every node that connects to the API through Cilium, observes them, and deletes them again.
import { changeObject } from "../../kubernetes/changeObject.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import { datapathDaemonSet, datapathNamespace, datapathPods, datapathProbe } from "../../kubernetes/datapathProbe.ts";
import type { DaemonSet, KubernetesEvent, Pod } from "../../kubernetes/objects.ts";
import { type KubernetesCredentials, type Observed, observe } from "../../kubernetes/observe.ts";
import type { Clock } from "../../waiting/clock.ts";
import { type Tried, tryObjects } from "./tryObjects.ts";
import { workloadPaths } from "./workloads.ts";

type Kinds = { daemonSets: DaemonSet; pods: Pod; events: KubernetesEvent };
type Seen = Observed<Kinds>;
export type DatapathObservation = Seen & Tried;

const { daemonSets, events } = workloadPaths(datapathNamespace);

/** `isUsed` reports whether the pods of all nodes have connected. */
export function tryDatapath(
  { kubeconfig }: KubernetesCredentials,
  isUsed: (seen: Seen) => boolean,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<DatapathObservation> {
  const client = new KubernetesClient(kubeconfig, clock);
  return tryObjects<Seen>(
    {
      presence(seen) {
        const probe = find(seen, datapathProbe);
        if (probe === undefined) return "absent";
        return probe.metadata.deletionTimestamp === undefined ? "present" : "leaving";
      },
      async make(seen, until) {
        const agent = find(seen, "cilium");
        if (agent === undefined) return "DaemonSet cilium does not exist";
        const body = datapathDaemonSet(agent);
        return refusal(changeObject(client, "POST", daemonSets, { signal: until, body }), "cannot be created");
      },
      // Its pods are deleted with it.
      remove: () => refusal(changeObject(client, "DELETE", `${daemonSets}/${datapathProbe}`), "cannot be deleted"),
      isUsed,
    },
    observe<Kinds>({ kubeconfig }, { daemonSets, events, pods: datapathPods }, signal, clock),
    signal,
    clock,
  );
}

function find({ daemonSets: all }: Seen, name: string): DaemonSet | undefined {
  return all.find(({ metadata }) => metadata.name === name);
}

async function refusal(call: Promise<unknown>, what: string): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return `${what}: ${(error as Error).message}`;
  }
}
