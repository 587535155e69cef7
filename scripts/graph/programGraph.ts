// The graph of an environment, as the program registers it with the engine: without an engine, a state or a network.
import type { MockResourceResult } from "@pulumi/pulumi/runtime/mocks.js";
import { deployCluster } from "../../stacks/cluster.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { observeRegistrations, titleOf } from "./registrations.ts";

/** A resource that the program registers. Others are named by `type name`. */
export interface GraphResource {
  readonly type: string;
  readonly name: string;
  /** A component creates nothing itself. */
  readonly isComponent: boolean;
  readonly parent: string | undefined;
  /** What it waits for itself. It also waits for everything that its parent waits for. */
  readonly dependencies: readonly string[];
  /** Of a gate: seconds that it waits at most. */
  readonly deadlineSeconds: number | undefined;
}

/** By type and name: the order in which a program registers what does not depend on each other is a matter of timing. */
export async function programGraph(config: ClusterConfig): Promise<GraphResource[]> {
  const resources: GraphResource[] = [];
  // The charts of a local folder may not exist yet, and no resource depends on their source.
  const withoutCharts: ClusterConfig = { ...config, charts: {} };
  const mocks = {
    // As in a first preview: nothing is known about new resources.
    newResource: ({ inputs }: { readonly inputs: Record<string, unknown> }) =>
      ({ id: undefined, state: inputs }) satisfies MockResourceResult,
    call: () => ({}),
  };
  const run = { stack: config.clusterName, isPreview: true, mocks };
  await observeRegistrations(() => deployCluster(withoutCharts), run, {
    onResource(request) {
      const provider = request.getProvider();
      const inputs = request.getObject()?.toJavaScript() as Partial<GateInputs> | undefined;
      resources.push({
        type: request.getType(),
        name: request.getName(),
        isComponent: !request.getCustom(),
        parent: request.getParent() === "" ? undefined : titleOf(request.getParent()),
        dependencies: [...request.getDependenciesList(), ...(provider === "" ? [] : [provider])].map(titleOf),
        deadlineSeconds: inputs?.settings?.deadlineSeconds,
      });
    },
  });
  const keyOf = ({ type, name }: GraphResource) => `${type} ${name}`;
  return resources.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

interface GateInputs {
  readonly settings: { readonly deadlineSeconds?: number };
}
