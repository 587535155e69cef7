// What the engine asks of a Release. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { isDeepStrictEqual } from "node:util";
import { failureMessage } from "../errors/failureMessage.ts";
import { lastingState, resetMachine } from "../lifecycle/resetMachine.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { using, type World } from "../talos/nodeAccess.ts";
import { asFailure } from "../talos/nodeFailure.ts";
import { identityFault } from "../talos/nodeResources.ts";
import { inEngine, type Surroundings } from "../talos/surroundings.ts";
import type { MachineIdentity } from "./machine.ts";

export interface ReleasedNode {
  readonly node: string;
  readonly endpoint: string;
  readonly identity: MachineIdentity;
}

export interface ReleaseInputs {
  readonly nodes: readonly ReleasedNode[];
  readonly credentials: TalosCredentials;
  readonly reset: boolean;
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

/** What became of one machine. */
type End =
  | { readonly kind: "reset" }
  /** It is as it was, and no later try would change that. */
  | { readonly kind: "left"; readonly why: string }
  /** It is there and ours, and should have been reset. */
  | { readonly kind: "failed"; readonly why: string };

export const operations = {
  /** Offline. */
  diff(olds: ReleaseInputs, news: ReleaseInputs) {
    const matters = ({ nodes, credentials, reset, deadline }: ReleaseInputs) => ({
      nodes,
      credentials,
      reset,
      deadline,
    });
    return { changes: !isDeepStrictEqual(matters(olds), matters(news)) };
  },

  /** Bounded. A machine that cannot be reached does not hold up the end of a cluster; one that is there and refuses does. */
  async remove({ nodes, reset, ...rest }: ReleaseInputs, world: Surroundings): Promise<void> {
    const names = (some: readonly { readonly node: string }[]) => some.map(({ node }) => node).join(", ");
    if (!reset) {
      const after =
        "to use them anew reset them first, while their talosconfig is still there, or boot them from Talos' medium and wipe them";
      await world.note(
        `${names(nodes)}: nothing is done to these machines, they keep running as they are; ${after}`,
        "info",
      );
      return;
    }
    const ends = await Promise.all(nodes.map(async (node) => ({ ...node, end: await released(node, rest, world) })));
    for (const { node, end } of ends) {
      if (end.kind === "left") await world.note(`${node} was not reset: ${end.why}`, "warning");
    }
    const failed = ends.flatMap(({ node, end }) => (end.kind === "failed" ? [{ node, why: end.why }] : []));
    if (failed.length === 0) return;
    throw new Error(
      failureMessage({
        code: "SLU-M104",
        what: "the machines to be reset",
        where: names(failed),
        seen: failed.map(({ node, why }) => `${node}: ${why}`).join("\n"),
      }),
    );
  },
};

export const create = async (inputs: ReleaseInputs) => ({ id: "release", outs: inputs });
export const update = async (_id: string, _olds: ReleaseInputs, news: ReleaseInputs) => ({ outs: news });
export const diff = async (_id: string, olds: ReleaseInputs, news: ReleaseInputs) => operations.diff(olds, news);
export const remove = (_id: string, props: ReleaseInputs) =>
  inEngine(props.row, (world) => operations.remove(props, world));

async function released(
  { node, endpoint, identity }: ReleasedNode,
  { credentials, deadline }: Pick<ReleaseInputs, "credentials" | "deadline">,
  world: World,
): Promise<End> {
  const { access, clock } = world;
  const until = clock.now() + deadline * 1000;
  try {
    const machine = { node, endpoint, credentials };
    const state = await lastingState(machine, world, until);
    if (state.kind === "maintenance") return { kind: "reset" };
    if (state.kind !== "ours") return { kind: "left", why: whyLeft(state) };
    const fault = await using(access.configured(endpoint, credentials), (client) => identityFault(client, identity));
    if (fault !== undefined) return { kind: "left", why: `another machine is at its address: ${fault}` };
    return endOf(await resetMachine(machine, world, until), deadline);
  } catch (error) {
    return { kind: "failed", why: asFailure(error, "SLU-M104").seen };
  }
}

/** A machine that took the order and is gone may have another address by now: without its config it asks for one. */
function endOf(kind: NodeState["kind"], deadline: number): End {
  if (kind === "maintenance") return { kind: "reset" };
  if (kind === "ours") return { kind: "failed", why: `it took the order, and ${deadline} s later runs as before` };
  return { kind: "left", why: `it took the order and went down, and was not seen in maintenance within ${deadline} s` };
}

function whyLeft(state: Exclude<NodeState, { kind: "maintenance" | "ours" }>): string {
  if (state.kind === "foreign") return "it belongs to another cluster";
  if (state.kind === "settling") return `it stays in stage ${state.stage}`;
  return `it does not answer (${state.why}): wipe it from Talos' medium when it is back, for nobody has its keys any more`;
}
