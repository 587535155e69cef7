// The operations of TalosUpgrade.
import { isDeepStrictEqual } from "node:util";
import { backupNote } from "../../backup/backupFirst.ts";
import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import { isUnknown } from "../../engine/isUnknown.ts";
import type { ResourceContext } from "../../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../../engine/resourceProvider.ts";
import { withRecord } from "../../engine/unfinishedUpdate.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { nodeContext, using } from "../../talos/access/nodeAccess.ts";
import { lookAt } from "../../talos/access/nodeResources.ts";
import { unsupportedTalosStep } from "../../talos/config/talosStep.ts";
import { talosFaults, type WantedTalos } from "../../talos/config/wantedTalos.ts";
import { resultWithin } from "../../waiting/deadline.ts";
import { runsWanted } from "./bootVerdict.ts";
import { configValidator } from "./configValidator.ts";
import type { UpgradeContext } from "./prepareNodes.ts";
import type { TalosUpgradeArgs } from "./talosUpgrade.ts";
import { ClusterUpgrade, type NodeSystem, type UpgradeResult, UpgradeStopped } from "./upgradeCluster.ts";
import type { UpgradeNode } from "./upgradedCluster.ts";
import { type PlannedNode, upgradeNote } from "./upgradePreview.ts";

/** The Talos is null if the node's config does not say which it should run, and unknown in a preview that does not know the config yet. */
export type NodeInput = Omit<UpgradeNode, "wanted"> & { readonly wanted: WantedTalos | null };

export type TalosUpgradeInputs = ResourceInputs<Omit<TalosUpgradeArgs, "machines" | "machineConfigurations">> & {
  /** By name. */
  readonly nodes: Readonly<Record<string, NodeInput>>;
};

export interface TalosUpgradeState extends TalosUpgradeInputs {
  /** What a node runs, if it is not what it should run by these inputs. */
  readonly others: Readonly<Record<string, NodeSystem>>;
  /** How long the last upgrade of a node took. */
  readonly seconds: Readonly<Record<string, number>>;
  /** What a refresh found to be different, as text. */
  readonly drift: readonly string[];
}

/** Seconds for all that a refresh asks of a node, even of one that is gone. */
const readSeconds = 5;

export const operations = {
  id: () => "talos",

  /** Nodes of a cluster that was made before there was this resource may have another Talos in their configs. */
  create: async (inputs, context) => {
    const result = await upgrade(inputs, context).run({ onlyIfChanged: true });
    return stateOf(inputs, result, {});
  },

  async update(olds, news, context) {
    try {
      return stateOf(news, await upgrade(news, context).run(), olds.seconds);
    } catch (error) {
      if (!(error instanceof UpgradeStopped)) throw error;
      // Its inputs stay those of before, so what the nodes run is recorded by them.
      const { others, seconds } = stateOf(olds, error.result, olds.seconds);
      throw withRecord(error, { others, seconds });
    }
  },

  difference(olds, news) {
    if (isUnknown(news.nodes)) return { kind: "none" };
    const known = ({ nodes, credentials }: TalosUpgradeInputs) => [nodes, credentials];
    if (planned(olds, news).length > 0) return { kind: "update" };
    return { kind: isDeepStrictEqual(known(olds), known(news)) ? "none" : "record" };
  },

  refusal(olds, news) {
    if (isUnknown(news.nodes)) return undefined;
    for (const { name: where, from, to } of planned(olds, news)) {
      const step = unsupportedTalosStep(from.version, to.version);
      if (step !== undefined) return new SluiceError({ code: "SLU-T401", where, ...step });
    }
    return undefined;
  },

  /** In a preview this shows the user what happens to running nodes. */
  notes(olds, news) {
    if (isUnknown(news.nodes)) return [];
    const nodes = planned(olds, news);
    if (nodes.length === 0) return [];
    const { parallel, limits } = news;
    const drains = limits.drain && Object.keys(news.nodes).length > 1;
    return [upgradeNote({ nodes, parallel, drains, seconds: olds.seconds }), backupNote(news.backup)];
  },

  /** Observes once, within a time limit. Of a node that does not answer, what is known is kept. */
  async read(state, { access, clock }) {
    const seen = await Promise.all(
      Object.values(state.nodes).map(async ({ name, talosAddress }) => {
        const look = async () => {
          const { kind } = await access.probe(talosAddress, state.credentials);
          if (kind !== "ours") return undefined;
          return await using(access.configured(talosAddress, state.credentials), (client) =>
            lookAt(client, { deadlineSeconds: readSeconds }),
          );
        };
        const found = await resultWithin(clock, readSeconds * 1000, look());
        return found === undefined ? undefined : ([name, found] as const);
      }),
    );
    const systems = Object.fromEntries(seen.filter((one) => one !== undefined));
    const isAsked = (name: string) => systems[name] !== undefined;
    const { others, drift } = judged(state, systems);
    const unasked = Object.entries(state.others).filter(([name]) => !isAsked(name));
    return { ...state, others: { ...Object.fromEntries(unasked), ...others }, drift };
  },

  outcome: ({ nodes }) => {
    const versions = [...new Set(Object.values(nodes).flatMap(({ wanted }) => wanted?.version ?? []))];
    return `the nodes run Talos ${versions.join(", ")}`;
  },

  endsWhenInterrupted: true,
} satisfies ResourceOperations<TalosUpgradeInputs, TalosUpgradeState, UpgradeContext>;

export const { create, read, diff, update, remove } = engineCalls<
  TalosUpgradeInputs,
  TalosUpgradeState,
  UpgradeContext
>(operations, (context: ResourceContext) => ({ ...nodeContext(context), validate: configValidator }));

function upgrade(inputs: TalosUpgradeInputs, context: UpgradeContext): ClusterUpgrade {
  const nodes = Object.values(inputs.nodes).filter((node): node is UpgradeNode => node.wanted !== null);
  return new ClusterUpgrade({ ...inputs, nodes }, context);
}

function stateOf<Inputs extends TalosUpgradeInputs>(
  inputs: Inputs,
  { systems, seconds }: UpgradeResult,
  known: Readonly<Record<string, number>>,
) {
  const isNode = ([name]: readonly [string, number]) => inputs.nodes[name] !== undefined;
  const times = Object.fromEntries(Object.entries({ ...known, ...seconds }).filter(isNode));
  return { ...inputs, others: judged(inputs, systems).others, seconds: times, drift: [] };
}

/** The nodes that run another Talos than these inputs say. */
function judged(
  { nodes }: TalosUpgradeInputs,
  systems: Readonly<Record<string, NodeSystem & { readonly stage?: string }>>,
) {
  const found = Object.entries(systems).flatMap(([name, { version, schematic, stage = "running" }]) => {
    const { wanted, own } = nodes[name] ?? {};
    if (wanted === undefined || wanted === null) return [];
    const faults = talosFaults({ version, schematic, stage }, wanted, own);
    return faults.length === 0 ? [] : [{ name, system: { version, schematic }, faults }];
  });
  return {
    others: Object.fromEntries(found.map(({ name, system }) => [name, system])),
    drift: found.map(({ name, faults }) => `${name} ${faults.join("; ")}`),
  };
}

/** The nodes that are about to get another Talos, as far as the state knows what they run. A new node is installed with the right one. */
function planned(olds: TalosUpgradeState, news: TalosUpgradeInputs): readonly PlannedNode[] {
  return Object.values(news.nodes).flatMap(({ name, role, wanted, own }) => {
    const was = olds.nodes[name]?.wanted;
    const from = olds.others[name] ?? (was && { version: was.version, schematic: was.schematic ?? "" });
    if (isUnknown(wanted) || wanted === null || !from) return [];
    return runsWanted(from, wanted, own) ? [] : [{ name, role, from, to: wanted }];
  });
}
