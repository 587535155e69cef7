// The operations of a Release.
import { isDeepStrictEqual } from "node:util";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { allRenamed, renamed } from "../engine/renamed.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import { lastingState, resetMachine } from "../lifecycle/resetMachine.ts";
import { type NodeContext, type NodeResourceContext, nodeContext, using } from "../talos/access/nodeAccess.ts";
import { asFailure } from "../talos/access/nodeFailure.ts";
import { identityFault } from "../talos/access/nodeResources.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import type { ReleaseArgs } from "./release.ts";

export type ReleaseInputs = ResourceInputs<Omit<ReleaseArgs, "machines"> & { readonly nodes: ReleaseArgs["machines"] }>;

type ReleasedNode = ReleaseInputs["nodes"][number];

/** The result for one machine. */
type End =
  | { readonly kind: "reset" }
  /** The machine is unchanged, and a retry would not change that. */
  | { readonly kind: "left"; readonly why: string }
  /** The machine is reachable and ours, and should have been reset. */
  | { readonly kind: "failed"; readonly why: string };

export const operations = {
  id: () => "release",

  create: async (inputs) => inputs,

  /** Nothing is done until deletion, which uses the settings in the state. */
  difference(olds, news) {
    const matters = ({ nodes, credentials, reset, deadlineSeconds }: ReleaseInputs) => [
      nodes,
      credentials,
      reset,
      deadlineSeconds,
    ];
    return { kind: isDeepStrictEqual(matters(olds), matters(news)) ? "none" : "record" };
  },

  migrate: (state) => ({
    ...renamed(state, { deadline: "deadlineSeconds" }),
    nodes: allRenamed(state.nodes, { node: "name", endpoint: "talosAddress" }),
  }),

  /** Has a time limit. An unreachable machine does not delay the destruction of a cluster; one that is reachable but refuses does. */
  async delete({ nodes, reset, ...rest }, context) {
    const names = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name).join(", ");
    if (!reset) {
      const after =
        "to use them again, reset them first, while you still have their talosconfig, or boot them from a Talos image and wipe them";
      await context.note(
        `${names(nodes)}: nothing is done to these machines, they keep running as they are; ${after}`,
        "info",
      );
      return;
    }
    const ends = await Promise.all(nodes.map(async (node) => ({ ...node, end: await released(node, rest, context) })));
    for (const { name, end } of ends) {
      if (end.kind === "left") await context.note(`${name} was not reset: ${end.why}`, "warning");
    }
    const failed = ends.flatMap(({ name, end }) => (end.kind === "failed" ? [{ name, why: end.why }] : []));
    if (failed.length === 0) return;
    throw new SluiceError({
      code: "SLU-M104",
      what: "the machines to be reset",
      where: names(failed),
      seen: failed.map(({ name, why }) => `${name}: ${why}`).join("\n"),
    });
  },
} satisfies ResourceOperations<ReleaseInputs, ReleaseInputs, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<ReleaseInputs, ReleaseInputs, NodeResourceContext>(
  operations,
  nodeContext,
);

async function released(
  { name, talosAddress, identity }: ReleasedNode,
  { credentials, deadlineSeconds }: Pick<ReleaseInputs, "credentials" | "deadlineSeconds">,
  context: NodeContext,
): Promise<End> {
  const { access, clock } = context;
  const until = clock.now() + deadlineSeconds * 1000;
  try {
    const machine = { name, talosAddress, credentials };
    const state = await lastingState(machine, context, until);
    if (state.kind === "maintenance") return { kind: "reset" };
    if (state.kind !== "ours") return { kind: "left", why: whyLeft(state) };
    const fault = await using(access.configured(talosAddress, credentials), (client) =>
      identityFault(client, identity),
    );
    if (fault !== undefined) return { kind: "left", why: `another machine is at its address: ${fault}` };
    return endOf(await resetMachine(machine, context, until), deadlineSeconds);
  } catch (error) {
    return { kind: "failed", why: asFailure(error, "SLU-M104").seen };
  }
}

/** A machine that accepted the reset and is gone may have another address now: without its config it uses DHCP. */
function endOf(kind: NodeState["kind"], deadlineSeconds: number): End {
  if (kind === "maintenance") return { kind: "reset" };
  if (kind === "ours")
    return { kind: "failed", why: `it accepted the reset, but still runs unchanged ${deadlineSeconds} s later` };
  return {
    kind: "left",
    why: `it accepted the reset and went down, but was not observed in maintenance within ${deadlineSeconds} s`,
  };
}

function whyLeft(state: Exclude<NodeState, { kind: "maintenance" | "ours" }>): string {
  if (state.kind === "foreign") return "it belongs to another cluster";
  if (state.kind === "settling") return `it stays in stage ${state.stage}`;
  return `it does not answer (${state.why}): once it is back, boot it from a Talos image and wipe it, because its keys are gone`;
}
