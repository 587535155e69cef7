// Brings every node of a cluster to the Talos that it should run: everything is checked before the first node is changed, and the first failure stops all.
import { type BackupPolicy, backupFirst } from "../../backup/backupFirst.ts";
import { resume } from "../../engine/interruption.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { count } from "../../model/count.ts";
import { type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import { asFailure, endFailure } from "../../talos/access/nodeFailure.ts";
import { runningConfig } from "../../talos/access/nodeResources.ts";
import { wantedTalos } from "../../talos/config/wantedTalos.ts";
import { lookAtEtcd } from "../../talos/etcd/etcdPresence.ts";
import type { Parallel } from "../../talos/nodes/lanes.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import { runsWanted, systemName } from "./bootVerdict.ts";
import { NodeRows } from "./nodeRows.ts";
import { type Observed, type Preparation, prepareNodes, type UpgradeContext } from "./prepareNodes.ts";
import { lookAtSystem, type SystemLook } from "./systemLook.ts";
import { UpgradedCluster, type UpgradeLimits, type UpgradeNode } from "./upgradedCluster.ts";
import { NodeUpgrade, type UpgradeTimes } from "./upgradeNode.ts";
import { inLanes, type NodeFailure, type UpgradeStep, upgradeSteps } from "./upgradeOrder.ts";

export interface UpgradeRequest extends Preparation {
  readonly nodes: readonly UpgradeNode[];
  readonly limits: UpgradeLimits;
  readonly parallel: Parallel;
  readonly backup?: BackupPolicy | undefined;
}

/** What a node was seen to run. */
export interface NodeSystem {
  readonly version: string;
  /** Empty if its image is from no Image Factory. */
  readonly schematic: string;
}

export interface UpgradeResult {
  /** What each node runs that has a config of this cluster. */
  readonly systems: Readonly<Record<string, NodeSystem>>;
  /** How many seconds the upgrade of a node took. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** Seconds for all nodes to answer, of which some may just be booting. */
const answerSeconds = 120;
/** Seconds for a call that a node answers at once or not at all. */
const shortCallSeconds = 5;

/** An upgrade that failed or was interrupted, with what the nodes run by then. */
export class UpgradeStopped extends Error {
  readonly result: UpgradeResult;

  constructor(cause: SluiceError, result: UpgradeResult) {
    super(cause.message, { cause });
    this.result = result;
  }
}

export class ClusterUpgrade {
  private readonly request: UpgradeRequest;
  private readonly context: UpgradeContext;
  private readonly cluster: UpgradedCluster;
  private readonly rows: NodeRows;
  private readonly systems: Record<string, NodeSystem> = {};
  private readonly seconds: Record<string, number> = {};
  private isLiving = false;

  constructor(request: UpgradeRequest, context: UpgradeContext) {
    this.request = request;
    this.context = context;
    this.cluster = new UpgradedCluster(request.nodes, request.credentials, request.limits, context);
    this.rows = new NodeRows(context.report);
  }

  /**
   * Returns what the nodes run at the end. With `onlyIfChanged` a node keeps another Talos than it should run if its running config does not ask for another one:
   * then somebody else has changed it, and nobody has seen that in a preview.
   */
  async run({ onlyIfChanged = false } = {}): Promise<UpgradeResult> {
    const { systems, seconds } = this;
    this.context.report("observes what the nodes run");
    if (onlyIfChanged && !(await this.isAsked())) return { systems, seconds };
    const observed = await this.observe();
    const others = this.othersOf(observed);
    const todo = onlyIfChanged ? await this.changed(others) : others;
    if (observed.length === 0) return { systems, seconds };
    try {
      this.isLiving = await this.hasEtcd();
      const left = this.isLiving ? await this.leftOf(observed, todo) : [];
      if (todo.length > 0) {
        if (this.isLiving) this.refuseIncomplete(observed);
        await prepareNodes(todo, this.request, this.rows, this.context);
      }
      const work = () => this.upgrade(todo, left);
      if (this.isLiving && todo.length + left.length > 0) await this.inCluster(work, todo);
      else await work();
    } catch (error) {
      throw new UpgradeStopped(this.explained(error), { systems, seconds });
    }
    return { systems, seconds };
  }

  /** Whether a node that answers at once should change. One that does not is judged when it gets its config. */
  private async isAsked(): Promise<boolean> {
    const looks = await Promise.all(this.request.nodes.map((node) => this.look(node)));
    const observed = looks.flatMap((look) => ("found" in look ? look.found : []));
    return (await this.changed(this.othersOf(observed))).length > 0;
  }

  /** The nodes that have a config of this cluster. */
  private async observe(): Promise<readonly Observed[]> {
    const until = this.context.clock.now() + answerSeconds * 1000;
    const options = { ...this.context, until: () => until };
    const all = await Promise.all(this.request.nodes.map((node) => poll(() => this.look(node), options)));
    return all.flat();
  }

  private async look(node: UpgradeNode): Promise<Polled<readonly Observed[]>> {
    const { access } = this.context;
    const { credentials } = this.request;
    const state = await access.probe(node.talosAddress, credentials);
    if (state.kind === "maintenance") return { found: [] };
    if (state.kind === "foreign") throw new SluiceError({ code: "SLU-T109", where: node.name, seen: state.why });
    if (state.kind !== "ours") return { late: away(node, "why" in state ? state.why : `stage ${state.stage}`) };
    try {
      const client = access.configured(node.talosAddress, credentials);
      const system = await using(client, (open) => lookAtSystem(open, { deadlineSeconds: shortCallSeconds }));
      return { found: [{ node, system }] };
    } catch (error) {
      return { late: away(node, asFailure(error, "SLU-T101").seen) };
    }
  }

  /** The nodes that run another Talos than they should; all are recorded. */
  private othersOf(observed: readonly Observed[]): readonly Observed[] {
    for (const { node, system } of observed) this.record(node, system);
    return observed.filter(({ node, system }) => !runsWanted(system, node.wanted, node.own));
  }

  /** The nodes whose running config asks for another Talos than the new one does. */
  private async changed(others: readonly Observed[]): Promise<readonly Observed[]> {
    const asks = await Promise.all(
      others.map(async ({ node }) => {
        const running = await this.using(node, (client) => runningConfig(client));
        return wantedTalos(running ?? "")?.installer !== node.wanted.installer;
      }),
    );
    return others.filter((_, place) => asks[place]);
  }

  /** Whether there is a cluster that has something to lose: before its bootstrap there is not. */
  private async hasEtcd(): Promise<boolean> {
    const looks = await Promise.all(
      this.cluster.controlPlanes.map((peer) => lookAtEtcd(peer, this.request.credentials, this.context)),
    );
    return looks.some(({ kind }) => kind !== "none");
  }

  /** The nodes that an earlier run has upgraded, and left before they were healthy: it has cordoned them. */
  private async leftOf(observed: readonly Observed[], todo: readonly Observed[]): Promise<readonly Observed[]> {
    const cordoned = await this.cluster.ownCordons();
    return observed.filter((one) => cordoned.has(one.node.name) && !todo.includes(one));
  }

  private refuseIncomplete(observed: readonly Observed[]): void {
    const missing = this.cluster.controlPlanes.filter(({ name }) => !observed.some(({ node }) => node.name === name));
    if (missing.length === 0) return;
    const names = missing.map(({ name }) => name).join(", ");
    const seen = `${names} ${missing.length === 1 ? "is" : "are"} in maintenance, without a config. Nothing was changed`;
    throw new SluiceError({ code: "SLU-T408", seen });
  }

  /** What else must be true of a running cluster, and a backup; then the work, while nobody else upgrades it. */
  private async inCluster(work: () => Promise<void>, todo: readonly Observed[]): Promise<void> {
    const { cluster, context, request } = this;
    await cluster.etcdIsHealthy(context);
    await cluster.hold();
    try {
      if (todo.length > 0) {
        await cluster.refuseImpossibleBudgets(todo.map(({ node }) => node));
        await cluster.rememberVolumes();
        await cluster.volumesAreSettled(context);
        if (request.backup !== undefined) {
          const { credentials } = request;
          const reason = `before ${count(todo.length, "node")} ${todo.length === 1 ? "gets" : "get"} another Talos`;
          await backupFirst(request.backup, { controlPlanes: cluster.controlPlanes, credentials }, reason, context);
        }
      }
      await work();
    } finally {
      await cluster.release();
    }
  }

  private async upgrade(todo: readonly Observed[], left: readonly Observed[]): Promise<void> {
    const { parallel } = this.request;
    for (const { node } of left) await this.step({ nodes: [node], lanes: 1 }, (upgrade) => upgrade.finish());
    const nodes = todo.map(({ node }) => node);
    let place = 0;
    for (const step of upgradeSteps(nodes, parallel)) {
      await this.step(step, async (upgrade, node) => {
        place += 1;
        this.rows.of(node.name)(`${place} of ${nodes.length}`);
        await this.done(node, await upgrade.run());
      });
    }
  }

  private async step(
    step: UpgradeStep<UpgradeNode>,
    work: (upgrade: NodeUpgrade, node: UpgradeNode) => Promise<void>,
  ): Promise<void> {
    const failures = await inLanes(step, async (node) => {
      const context: NodeContext = { ...this.context, report: this.rows.of(node.name) };
      const began = context.clock.now();
      try {
        await work(new NodeUpgrade(node, this.cluster, this.isLiving, context), node);
      } catch (error) {
        throw await this.failureOf(node, error, (context.clock.now() - began) / 1000);
      } finally {
        this.rows.done(node.name);
      }
    });
    if (failures.length > 0) throw together(failures);
  }

  private async done(node: UpgradeNode, { drained, away: awaySeconds, all }: UpgradeTimes): Promise<void> {
    const before = this.systems[node.name];
    const system = await this.using(node, (client) => lookAtSystem(client, { deadlineSeconds: shortCallSeconds }));
    this.record(node, system);
    this.seconds[node.name] = all;
    const was = before === undefined ? "" : `, before ${systemName(before)}`;
    const times = `drained in ${drained} s, away for ${awaySeconds} s, ${all} s in all`;
    await this.context.note(`${node.name} runs ${systemName(system)}${was}: ${times}`, "info");
  }

  /** A node that still serves may be used again; one that does not stays cordoned. */
  private async failureOf(node: UpgradeNode, error: unknown, seconds: number): Promise<SluiceError> {
    const failure = asFailure(error, "SLU-T406");
    const now = await this.using(node, (client) => lookAtSystem(client, { deadlineSeconds: shortCallSeconds })).catch(
      () => undefined,
    );
    if (now !== undefined) this.record(node, now);
    const isUsable = this.isLiving && now?.stage === "running" && now.isReady;
    const isFree = isUsable && (await this.cluster.tryEndCordon(node));
    const cordon =
      !this.isLiving || isFree
        ? ""
        : `\n${node.name} may still be cordoned: the next \`up\` ends that once it is healthy`;
    const what = `the node to run Talos ${node.wanted.version}`;
    const end = { node: node.name, what, state: now?.stage ?? "away", attempts: 1, seconds };
    return endFailure(failure.with({ seen: `${failure.seen}${cordon}` }), end);
  }

  /** Every failure says what each node runs. */
  private explained(error: unknown): SluiceError {
    if (this.context.interrupted?.aborted) {
      return new SluiceError({
        subject: "Interrupted: Talos was being upgraded",
        seen: this.inWords(),
        remedy: resume,
      });
    }
    const failure = asFailure(error, "SLU-T408");
    return failure.details.others === undefined
      ? failure.with({ seen: `${failure.seen}\n${this.inWords()}` })
      : failure.with({ subject: this.inWords() });
  }

  private inWords(): string {
    const byName = Map.groupBy(Object.entries(this.systems), ([, system]) => systemName(system));
    const texts = [...byName].map(([name, nodes]) => `${nodes.map(([node]) => node).join(", ")}: ${name}`);
    return `now ${texts.join("; ")}`;
  }

  private record({ name }: UpgradeNode, { version, schematic }: SystemLook): void {
    this.systems[name] = { version, schematic };
  }

  private async using<T>(node: UpgradeNode, work: Parameters<typeof using<T>>[1]): Promise<T> {
    return await using(this.context.access.configured(node.talosAddress, this.request.credentials), work);
  }
}

function away({ name: where }: UpgradeNode, why: string): SluiceError {
  return new SluiceError({ code: "SLU-T101", where, seen: why });
}

/** With several failures, the first decides about the code; each is a line. */
function together(failures: readonly NodeFailure<UpgradeNode>[]): unknown {
  const [first, ...others] = failures.map(({ error }) => error as SluiceError);
  return others.length === 0 ? first : first?.with({ others: others.map(({ details }) => details) });
}
