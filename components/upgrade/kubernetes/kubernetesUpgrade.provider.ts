// The operations of KubernetesUpgrade.
import { isDeepStrictEqual } from "node:util";
import { backupNote } from "../../backup/backupFirst.ts";
import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import { isUnknown } from "../../engine/isUnknown.ts";
import { engineCalls, type ResourceOperations } from "../../engine/resourceProvider.ts";
import { withRecord } from "../../engine/unfinishedUpdate.ts";
import { type NodeResourceContext, nodeContext } from "../../talos/access/nodeAccess.ts";
import type { KubernetesImages } from "../../talos/config/kubernetesImages.ts";
import { resultWithin } from "../../waiting/deadline.ts";
import type { KubernetesUpgradeArgs } from "./kubernetesUpgrade.ts";
import type { UpgradeNode } from "./nodeKubernetes.ts";
import { ClusterUpgrade, type NodeSeconds, UpgradeStopped } from "./upgradeCluster.ts";
import { upgradeNote } from "./upgradePreview.ts";

export type KubernetesUpgradeInputs = ResourceInputs<
  Omit<KubernetesUpgradeArgs, "machines" | "machineConfigurations">
> & {
  /** By name. The images are unknown in a preview that does not know the config yet. */
  readonly nodes: Readonly<Record<string, UpgradeNode & { readonly images: KubernetesImages }>>;
};

export interface KubernetesUpgradeState extends KubernetesUpgradeInputs {
  /** How long the last upgrade of each node took. */
  readonly seconds: NodeSeconds;
}

/** Seconds for all that a preview asks. */
const lookAheadSeconds = 8;

export const operations = {
  id: () => "kubernetes",

  /** Nodes of a cluster that was made before there was this resource may run an older version. */
  create: async (inputs, context) => {
    return { ...inputs, seconds: await upgrade(inputs, context).run({ onlyIfOlder: true }) };
  },

  async update(olds, news, context) {
    const known = (seconds: NodeSeconds, { nodes }: KubernetesUpgradeInputs) =>
      Object.fromEntries(Object.entries({ ...olds.seconds, ...seconds }).filter(([name]) => nodes[name] !== undefined));
    try {
      return { ...news, seconds: known(await upgrade(news, context).run(), news) };
    } catch (error) {
      if (!(error instanceof UpgradeStopped)) throw error;
      throw withRecord(error, { seconds: known(error.seconds, olds) });
    }
  },

  difference(olds, news) {
    if (isUnknown(news.nodes)) return { kind: "none" };
    if (olds.version !== news.version) return { kind: "update" };
    const known = ({ nodes, credentials }: KubernetesUpgradeInputs) => [nodes, credentials];
    return { kind: isDeepStrictEqual(known(olds), known(news)) ? "none" : "record" };
  },

  /** In a preview this shows the user which components restart, and in which order. */
  notes(olds, news) {
    if (isUnknown(news.nodes) || olds.version === news.version) return [];
    const nodes = inOrder(news).filter(({ name }) => olds.nodes[name] !== undefined);
    const { parallel } = news;
    const plan = { from: olds.version, to: news.version, nodes, parallel, seconds: olds.seconds };
    return [upgradeNote(plan), backupNote(news.backup)];
  },

  /** Where the nodes do not answer at once, `up` finds out. */
  async lookAhead(_olds, news, context) {
    if (isUnknown(news.credentials)) return [];
    const late = new AbortController();
    const interrupted = AbortSignal.any([late.signal, ...(context.interrupted ? [context.interrupted] : [])]);
    const quiet = { ...context, report: () => undefined, interrupted };
    const found = await resultWithin(context.clock, lookAheadSeconds * 1000, upgrade(news, quiet).lookAhead());
    late.abort();
    return found ?? [{ text: "the nodes were not asked: `up` checks whether they can be upgraded", as: "info" }];
  },

  outcome: ({ version }) => `the nodes run Kubernetes ${version}`,

  endsWhenInterrupted: true,
} satisfies ResourceOperations<KubernetesUpgradeInputs, KubernetesUpgradeState, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<
  KubernetesUpgradeInputs,
  KubernetesUpgradeState,
  NodeResourceContext
>(operations, nodeContext);

function upgrade(inputs: KubernetesUpgradeInputs, context: NodeResourceContext): ClusterUpgrade {
  const nodes = inOrder(inputs);
  const images = Object.fromEntries(nodes.map((node) => [node.name, node.images]));
  return new ClusterUpgrade({ ...inputs, nodes, images }, context);
}

/** w-2 before w-10; the engine keeps no order. */
const compareNames = new Intl.Collator("en", { numeric: true }).compare;

function inOrder({ nodes }: KubernetesUpgradeInputs) {
  return Object.values(nodes).sort((a, b) => compareNames(a.name, b.name));
}
