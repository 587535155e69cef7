// A machine loses its config and its data, and boots into maintenance: as a node leaves, and when a cluster goes.
import type { NodeState } from "../talos/client/nodeState.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { using, type World } from "../talos/nodeAccess.ts";
import { asFailure } from "../talos/nodeFailure.ts";
import { repeat } from "../talos/repeat.ts";
import { TargetNode } from "../talos/targetNode.ts";

/** A machine, and how it is reached. */
export interface Resettable {
  readonly node: string;
  readonly endpoint: string;
  readonly credentials: TalosCredentials;
}

/** Seconds for which a machine must be silent to count as gone: one that reboots is back by then, or is looked at again in the next run. */
const goneAfter = 30;
/** Seconds between two looks; there is no watch on a machine that goes down or is away. */
const pace = [1, 1] as const;

/** What a machine is; one that does not answer gets a while to, but none after `until`. */
export async function lastingState(
  { node, endpoint, credentials }: Resettable,
  world: World,
  until = Number.POSITIVE_INFINITY,
): Promise<NodeState> {
  const end = Math.min(until, world.clock.now() + goneAfter * 1000);
  return await repeat(
    async () => {
      const state = await world.access.probe(endpoint, credentials);
      const isAway = state.kind === "unreachable" || state.kind === "settling" || state.kind === "invalid";
      if (!isAway || world.clock.now() >= end) return { found: state };
      const why = "why" in state ? state.why : `is in stage ${state.stage}`;
      world.report(`${node}: ${why}; is looked at for ${goneAfter} s`);
      return { late: new Error(why) };
    },
    { ...world, pace, until: () => Number.POSITIVE_INFINITY },
  );
}

/**
 * Wipes STATE and EPHEMERAL of a machine that is ours, and waits until it is in maintenance. Where the answer is lost, it is told again only when the
 * machine shows that it has not heard. Returns what it is in the end: one that went down and does not come back may have another address without its config.
 */
export async function resetMachine(machine: Resettable, world: World, until: number): Promise<NodeState["kind"]> {
  const { node, endpoint, credentials } = machine;
  world.report(`${node}: is reset`);
  const target = new TargetNode({ endpoint, credentials }, until, world);
  const options = { ...world, pace, until: () => until };
  await repeat(async () => {
    try {
      await using(target.open(), (client) => target.reset(client));
      return { found: true };
    } catch (error) {
      const failure = asFailure(error, "SLU-L103");
      if (!failure.passing) throw error;
      return { late: failure };
    }
  }, options);
  let kind: NodeState["kind"] = "ours";
  const look = async () => {
    kind = (await world.access.probe(endpoint, credentials)).kind;
    return kind === "maintenance" ? { found: kind } : { late: new Error(kind) };
  };
  return await repeat(look, options).catch((error) => {
    if (world.interrupted?.aborted) throw error;
    return kind;
  });
}
