// Upgrades one node of a cluster, in an order that disturbs workloads least. Each step first checks whether it is already done.
import { SluiceError } from "../../errors/sluiceError.ts";
import { type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import { identityFault } from "../../talos/access/nodeResources.ts";
import { memberIsHealthy } from "../../talos/etcd/etcdPresence.ts";
import { componentsServe } from "../../talos/nodes/componentHealth.ts";
import { runsWanted } from "./bootVerdict.ts";
import { lookAtSystem, type SystemLook } from "./systemLook.ts";
import { SystemUpgrade } from "./systemUpgrade.ts";
import type { UpgradedCluster, UpgradeNode } from "./upgradedCluster.ts";

/** How long the parts of an upgrade took, in seconds. */
export interface UpgradeTimes {
  readonly drained: number;
  /** From the installation until it was ready. */
  readonly away: number;
  readonly all: number;
}

/** Seconds for a call that a node answers at once or not at all. */
const shortCallSeconds = 5;

/** The upgrade of one node. Without a running cluster there is nothing to drain and nothing to wait for. */
export class NodeUpgrade {
  private readonly node: UpgradeNode;
  private readonly cluster: UpgradedCluster;
  private readonly isLiving: boolean;
  private readonly context: NodeContext;

  constructor(node: UpgradeNode, cluster: UpgradedCluster, isLiving: boolean, context: NodeContext) {
    this.node = node;
    this.cluster = cluster;
    this.isLiving = isLiving;
    this.context = context;
  }

  async run(): Promise<UpgradeTimes> {
    const { node, cluster, context } = this;
    const { clock } = context;
    const began = clock.now();
    cluster.checkGoAhead();
    await this.checkIdentity();
    const before = await this.look();
    if (this.isLiving) {
      if (node.role === "controlplane") await cluster.tolerates(node, context);
      await cluster.volumesAreSettled(context);
      cluster.checkGoAhead();
      await cluster.drain(node, context);
      if (node.role === "controlplane") await cluster.moveLeadership(node, context);
    }
    cluster.checkGoAhead();
    const drained = clock.now();
    if (!runsWanted(before, node.wanted, node.own)) await this.system().run(before);
    const up = clock.now();
    if (this.isLiving) await this.settle(before);
    const seconds = (from: number, to: number) => Math.round((to - from) / 1000);
    return { drained: seconds(began, drained), away: seconds(drained, up), all: seconds(began, clock.now()) };
  }

  /** A node that runs the wanted Talos, and that an earlier run has left before it was healthy. */
  async finish(): Promise<void> {
    const now = await this.look();
    const before = { ...now, bootId: "", stage: "running", isReady: true };
    await this.system().boot(before);
    await this.settle(before);
  }

  /** The node is back: what it served is healthy again before its pods may return, and before the next node goes down. */
  private async settle(before: SystemLook): Promise<void> {
    const { node, cluster, context } = this;
    const open = () => context.access.configured(node.talosAddress, cluster.credentials);
    const until = context.clock.now() + cluster.limits.nodeSeconds * 1000;
    if (node.role === "controlplane") {
      await memberIsHealthy(node.name, { open, until }, context);
      await componentsServe({ open, until }, context);
      await cluster.etcdIsHealthy(context);
    }
    const { bootId } = await this.look();
    if (before.isReady) await cluster.nodeIsReady(node, bootId, context);
    await cluster.endCordon(node, context);
    await cluster.volumesAreSettled(context);
  }

  private system(): SystemUpgrade {
    const { node, cluster, context } = this;
    const until = context.clock.now() + cluster.limits.nodeSeconds * 1000;
    return new SystemUpgrade(node, cluster.credentials, until, context);
  }

  private async look(): Promise<SystemLook> {
    const { node, cluster, context } = this;
    const options = { deadlineSeconds: shortCallSeconds };
    return await using(context.access.configured(node.talosAddress, cluster.credentials), (client) =>
      lookAtSystem(client, options),
    );
  }

  private async checkIdentity(): Promise<void> {
    const { node, cluster, context } = this;
    const fault = await using(context.access.configured(node.talosAddress, cluster.credentials), (client) =>
      identityFault(client, node.identity),
    );
    if (fault !== undefined) throw new SluiceError({ code: "SLU-T302", seen: fault });
  }
}
