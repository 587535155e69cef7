// Resets a machine: it loses its config and its data and boots into maintenance, when its node leaves or the cluster is destroyed.

import { type NodeContext, using } from "../talos/access/nodeAccess.ts";
import { asFailure } from "../talos/access/nodeFailure.ts";
import { TargetNode } from "../talos/access/targetNode.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { poll } from "../waiting/poll.ts";
import { every } from "../waiting/rounds.ts";

/** A machine, and how to reach it. */
export interface Resettable {
  /** The node's name. */
  readonly name: string;
  readonly talosAddress: string;
  readonly credentials: TalosCredentials;
}

/** Seconds for which a machine must be silent to count as gone: a rebooting one is back by then, or the next run probes it again. */
const goneAfterSeconds = 30;
/** Delays between two probes; a machine that goes down cannot be watched. */
const delays = every(1_000);

/** The state of a machine; one that does not answer is probed for a while, but not after `until`. */
export async function lastingState(
  { name, talosAddress, credentials }: Resettable,
  context: NodeContext,
  until = Number.POSITIVE_INFINITY,
): Promise<NodeState> {
  const end = Math.min(until, context.clock.now() + goneAfterSeconds * 1000);
  return await poll(
    async () => {
      const state = await context.access.probe(talosAddress, credentials);
      const isAway = state.kind === "unreachable" || state.kind === "settling" || state.kind === "invalid";
      if (!isAway || context.clock.now() >= end) return { found: state };
      const why = "why" in state ? state.why : `is in stage ${state.stage}`;
      context.report(`${name}: ${why}; is probed for ${goneAfterSeconds} s`);
      return { late: new Error(why) };
    },
    { ...context, delays, until: () => Number.POSITIVE_INFINITY },
  );
}

/**
 * Wipes STATE and EPHEMERAL of one of our machines, and waits until it is in maintenance. If the answer is lost, the call is repeated only once the machine
 * shows that it did not receive it. Returns the final state: a machine that went down and does not come back may have another address without its config.
 */
export async function resetMachine(
  machine: Resettable,
  context: NodeContext,
  until: number,
): Promise<NodeState["kind"]> {
  const { name, talosAddress, credentials } = machine;
  context.report(`${name}: is reset`);
  const target = new TargetNode({ talosAddress, credentials }, until, context);
  const options = { ...context, delays, until: () => until };
  await poll(async () => {
    try {
      await using(target.open(), (client) => target.reset(client));
      return { found: true };
    } catch (error) {
      const failure = asFailure(error, "SLU-L103");
      if (!failure.retryable) throw error;
      return { late: failure };
    }
  }, options);
  let kind: NodeState["kind"] = "ours";
  const look = async () => {
    kind = (await context.access.probe(talosAddress, credentials)).kind;
    return kind === "maintenance" ? { found: kind } : { late: new Error(kind) };
  };
  return await poll(look, options).catch((error) => {
    if (context.interrupted?.aborted) throw error;
    return kind;
  });
}
