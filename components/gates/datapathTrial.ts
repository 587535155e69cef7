// Proves that Cilium moves packets on every node: a pod there connects to the API, by its Service address.
import { connectContainer, connectSeconds, datapathProbe, timedOut } from "../kubernetes/datapathProbe.ts";
import type { Pod } from "../kubernetes/objects.ts";
import type { KubernetesCredentials } from "../kubernetes/observe.ts";
import type { Condition } from "../waiting/condition.ts";
import type { GateCheck } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { daemonSetOnNodes } from "./kubernetes/daemonSetReady.ts";
import type { DatapathObservation } from "./kubernetes/tryDatapath.ts";
import { lazily } from "./lazily.ts";

const code = "SLU-K120";

export function datapathTrial(
  credentials: KubernetesCredentials,
  nodes: readonly string[],
): GateCheck<unknown, DatapathObservation> {
  const onNodes = daemonSetOnNodes(datapathProbe, nodes, code);
  return {
    name: "CiliumReady",
    timeoutCode: code,
    conditions: () => [apiAnswers, connected(onNodes), gone],
    observe: (_, signal, clock) =>
      lazily(async () => {
        const { tryDatapath } = await import("./kubernetes/tryDatapath.ts");
        return tryDatapath(credentials, (seen) => onNodes.evaluate(seen).length === 0, signal, clock);
      }),
    evidence: () => ({ datapath: "a pod on every node connected to the API by its Service address" }),
  };
}

function connected(onNodes: ReturnType<typeof daemonSetOnNodes>): Condition<DatapathObservation> {
  return {
    phrase: "a pod on every node to connect to the API by its Service address",
    evaluate(seen) {
      const { used, trouble, daemonSets, pods } = seen;
      if (used) return [];
      if (trouble !== undefined || !daemonSets.some(isProbe)) {
        return [{ kind: "pending", where: "test pods", reason: trouble ?? "are not created yet" }];
      }
      return onNodes.evaluate(seen).map((verdict) => {
        if (!("where" in verdict)) return verdict;
        const own = pods.filter(({ spec }) => spec?.nodeName === verdict.where);
        const reason = own.map(connectionFailure).find((one) => one !== undefined);
        return reason === undefined ? verdict : { ...verdict, reason };
      });
    },
  };
}

const gone: Condition<DatapathObservation> = {
  phrase: "the test pods to be removed again",
  evaluate: ({ daemonSets, trouble }) =>
    daemonSets.filter(isProbe).map(({ metadata }) => ({
      kind: "pending",
      reason: `still there: DaemonSet ${metadata.name}${trouble === undefined ? "" : ` (${trouble})`}`,
    })),
};

function isProbe({ metadata }: { readonly metadata: { readonly name: string } }): boolean {
  return metadata.name === datapathProbe;
}

/** How the last attempt to connect failed, in the words of bash; undefined if there was none. */
function connectionFailure({ status }: Pod): string | undefined {
  const container = status?.initContainerStatuses?.find(({ name }) => name === connectContainer);
  const ended = container?.state?.terminated ?? container?.lastState?.terminated;
  if (ended === undefined || ended.exitCode === 0) return undefined;
  const [last] = (ended.message ?? "").trim().split("\n").slice(-1);
  const silence = ended.exitCode === timedOut ? `no answer within ${connectSeconds} s` : `ended with ${ended.exitCode}`;
  return `pods there cannot connect to the API by its Service address: ${last || silence}`;
}
