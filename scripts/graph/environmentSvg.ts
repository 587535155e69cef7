// The picture of an environment's chain.
import { count } from "../../components/model/count.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { chainOf } from "./chain.ts";
import { programGraph } from "./programGraph.ts";
import { chainSvg } from "./svg.ts";

export async function environmentSvg(environment: string, config: ClusterConfig): Promise<string> {
  const resources = await programGraph(config);
  const nodes = config.nodes.map(({ name }) => name);
  const stages = chainOf(resources, nodes);
  const created = resources.filter(({ isComponent }) => !isComponent).length;
  const gates = stages.flatMap((stage) => stage.gates).length;
  const counts = [count(nodes.length, "node"), count(created, "resource"), count(gates, "gate")].join(", ");
  const summary = `${counts} on platform ${config.platform.name}. What is below a gate starts when the gate has opened.`;
  return chainSvg({ environment, summary, stages, nodes });
}
