import type { FailureCode } from "../../errors/catalogue.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { pause } from "../../waiting/clock.ts";
import { retry } from "../../waiting/retry.ts";
import { type Components, readComponents, servingFault } from "../access/controlPlaneComponents.ts";
import { type Turn, takeTurn } from "../access/controlPlaneTurn.ts";
import { type NodeClient, type NodeContext, using } from "../access/nodeAccess.ts";
import { asFailure, endFailure } from "../access/nodeFailure.ts";
import {
  describeDisks,
  identityFault,
  lookAt,
  type NodeLook,
  persistentConfig,
  runningConfig,
} from "../access/nodeResources.ts";
import { TargetNode } from "../access/targetNode.ts";
import type { Applied, ApplyMode } from "../client/talosClient.ts";
import { type ComponentEffect, componentEffect } from "../config/componentChanges.ts";
import { configChanges, isSameConfig } from "../config/configDiff.ts";
import { machineSection } from "../config/configDocuments.ts";
import { placeOf } from "../config/configSummary.ts";
import { hasEtcd, memberIsHealthy } from "../etcd/etcdPresence.ts";
import { LivingCluster } from "../etcd/livingCluster.ts";
import type { AppliedMachineConfigInputs } from "./appliedMachineConfig.provider.ts";
import { componentsFollow, componentsServe } from "./componentHealth.ts";

/** The wanted state of a node. */
export type NodeTarget = Pick<
  AppliedMachineConfigInputs,
  | "node"
  | "role"
  | "talosAddress"
  | "address"
  | "peers"
  | "machineConfiguration"
  | "credentials"
  | "identity"
  | "retry"
  | "deadlineSeconds"
>;

export interface Configured extends NodeLook {
  /** `joined`: it was in maintenance. */
  readonly did: "nothing" | "applied" | "rebooted" | "joined";
  readonly attempts: number;
  /** Failure code of the attempt before the last one, if there was one. */
  readonly lastError?: FailureCode;
}

/**
 * Seconds for a call that takes the node some time: it validates the config and matches disks. If the answer is lost, the next attempt finds out whether the
 * call arrived.
 */
const applyDeadlineSeconds = 15;
/** The most changes of a config that a failure names. */
const mostNamed = 5;

/** Seconds that a control plane waits after giving up its turn, so that all others that may be changed have asked for theirs. */
const yieldSeconds = 5;

/** Brings a node to the wanted config from any state, and proves that it runs it. A node that runs it already is left alone. */
export async function configureNode(target: NodeTarget, context: NodeContext): Promise<Configured> {
  const began = context.clock.now();
  let lastError: FailureCode | undefined;
  const run = new ConfigurationRun(
    target,
    context,
    new TargetNode(target, began + target.deadlineSeconds * 1000, context),
  );
  const result = await retry(() => run.attempt(), {
    policy: target.retry,
    clock: context.clock,
    random: context.random,
    until: () => run.node.until,
    retryable: (error) => run.failure(error).retryable,
    onRetry: (error, attempt, delaySeconds) => {
      const { code, seen } = run.failure(error);
      lastError = code;
      context.report(`attempt ${attempt} failed: ${seen}; retrying in ${delaySeconds.toFixed(1)} s`);
    },
  });
  if (result.ok) {
    run.turn?.end();
    const { attempts } = result;
    return { ...result.value, attempts, did: run.did, ...(lastError !== undefined && { lastError }) };
  }
  const { node } = target;
  const { seen: state } = run.node;
  const failure = run.failure(result.error);
  run.turn?.end(`${node}: ${failure.seen}`);
  const seconds = (context.clock.now() - began) / 1000;
  throw endFailure(failure, { node, what: "the node to run its config", state, attempts: result.attempts, seconds });
}

class ConfigurationRun {
  did: Configured["did"] = "nothing";
  private hasYielded = false;
  turn: Turn | undefined;
  readonly node: TargetNode;
  private readonly target: NodeTarget;
  private readonly context: NodeContext;

  constructor(target: NodeTarget, context: NodeContext, node: TargetNode) {
    this.target = target;
    this.context = context;
    this.node = node;
  }

  failure(error: unknown, disks?: readonly string[]): SluiceError {
    return asFailure(error, "SLU-T206", { call: "applyConfiguration", ...(disks && { disks }) });
  }

  /** One attempt: each starts by reading the node's state, and assumes nothing from the attempt before. */
  async attempt(): Promise<NodeLook> {
    const { node } = this;
    const state = await node.answering();
    if (state.kind === "foreign") throw new SluiceError({ code: "SLU-T109", seen: state.why });
    if (state.kind === "maintenance") {
      await this.join();
    } else {
      await using(node.open(), (client) => this.change(client));
    }
    return await using(node.open(), (client) => lookAt(client));
  }

  /** The machine has no config. Control planes join a running cluster one at a time, each after the one before is a voter. */
  private async join(): Promise<void> {
    const { node, target } = this;
    const cluster = await LivingCluster.find(target, this.context);
    if (cluster !== undefined && target.role === "controlplane") await this.waitForTurn();
    await using(node.openInMaintenance(), async (client) => {
      await this.checkIdentity(client);
      await cluster?.removePredecessor(client, node.until);
      await this.apply(client, "AUTO");
    });
    await node.runs(target.machineConfiguration);
    this.did = "joined";
    await cluster?.waitUntilJoined(node.until);
  }

  /** The node is ours: only a difference is sent, in the mode that disturbs least. */
  private async change(client: NodeClient): Promise<void> {
    const { machineConfiguration: config, role } = this.target;
    await this.checkIdentity(client);
    const [running, persistent] = await Promise.all([runningConfig(client), persistentConfig(client)]);
    const isKept = persistent === undefined || isSameConfig(persistent, config);
    const isMember = role === "controlplane" && (await hasEtcd(client));
    if (running !== undefined && isSameConfig(running, config) && isKept) {
      if (isMember) await this.checkCrashes(client);
      return;
    }
    this.checkRole(running);

    if (isMember) await this.waitForTurn();
    const effect = isMember ? componentEffect(running ?? "", config) : "none";
    const before = effect === "none" ? undefined : await readComponents(client);
    // If this one does not serve, its change loses nothing, and may be what fixes it.
    if (before !== undefined && servingFault(before) === undefined) await this.letOthersServeFirst(client);
    const { mode } = await this.call(client, "AUTO", true);
    if (mode === "REBOOT") {
      if (isMember) await this.othersHealthy(client);
      // An earlier run may have come this far: then the config is already staged for the reboot.
      if (persistent === undefined || !isKept) await this.apply(client, "STAGED");
      const standing = await this.node.standing(client);
      await this.node.reboot(client);
      this.did = "rebooted";
      await this.node.runs(config, this.target.deadlineSeconds);
      await this.node.standsAs(standing);
      if (isMember && standing.isReady) await componentsServe(this.componentWait(), this.context);
    } else {
      await this.apply(client, "NO_REBOOT");
      await this.node.runs(config);
      if (before !== undefined) await this.componentsFollow({ before, effect }, running);
    }
    if (isMember) await this.etcdHealthy(this.target.node, () => this.node.open());
  }

  private async apply(client: NodeClient, mode: "AUTO" | "NO_REBOOT" | "STAGED"): Promise<void> {
    this.context.report(mode === "STAGED" ? "sends the config for the next boot" : "sends the config");
    await this.call(client, mode, false);
    if (mode !== "STAGED") this.did = "applied";
  }

  /** If the disk is refused, the failure lists the node's disks. */
  private async call(client: NodeClient, mode: ApplyMode, dryRun: boolean): Promise<Applied> {
    try {
      const { machineConfiguration: config } = this.target;
      const left = (this.node.until - this.context.clock.now()) / 1000;
      const deadlineSeconds = Math.min(applyDeadlineSeconds, Math.max(left, 1));
      return await client.applyConfiguration({ config, mode, dryRun }, { deadlineSeconds });
    } catch (error) {
      const { code } = this.failure(error);
      const disks = code === "SLU-T202" ? await describeDisks(client) : undefined;
      throw this.failure(error, disks);
    }
  }

  /** No other control plane is changed until this run ends. */
  private async waitForTurn(): Promise<void> {
    const { clock, report } = this.context;
    if (this.turn !== undefined) return;
    report("waits for its turn: control planes are changed one at a time");
    const asked = clock.now();
    this.turn = await takeTurn(this.target.credentials.ca);
    this.node.until += clock.now() - asked;
  }

  /** A reboot takes one member of etcd down, so every other member must be healthy. */
  private async othersHealthy(client: NodeClient): Promise<void> {
    const { access } = this.context;
    const { node, talosAddress, credentials } = this.target;
    const others = (await client.etcdMembers()).filter(({ name }) => name !== node);
    await Promise.all(
      others.map(({ name, peerUrls }) => {
        const { hostname } = new URL(peerUrls[0] ?? `https://${name}`);
        return this.etcdHealthy(name, () => access.configured(talosAddress, credentials, hostname));
      }),
    );
  }

  /** If another control plane does not serve, that one goes first: the change may be what fixes it. */
  private async letOthersServeFirst(client: NodeClient): Promise<void> {
    if (!this.hasYielded) {
      try {
        return await this.othersServe(client);
      } catch (error) {
        if (!(error instanceof SluiceError) || error.code !== "SLU-T216") throw error;
        this.hasYielded = true;
        this.context.report(`lets the others go first: ${error.seen}`);
        this.turn?.end();
        this.turn = undefined;
        await pause(this.context.clock, yieldSeconds * 1000);
        await this.waitForTurn();
      }
    }
    await this.othersServe(client);
  }

  /** No other API server may be down while this one is. */
  private async othersServe(client: NodeClient): Promise<void> {
    const { access, report } = this.context;
    const { node, talosAddress, credentials } = this.target;
    const others = (await client.etcdMembers()).filter(({ name }) => name !== node);
    if (others.length > 0) report("waits until the other control planes serve");
    await Promise.all(
      others.map(async ({ name, peerUrls }) => {
        const { hostname } = new URL(peerUrls[0] ?? `https://${name}`);
        const open = () => access.configured(talosAddress, credentials, hostname);
        await componentsServe({ open, until: this.node.until }, this.context).catch((error) => {
          throw error instanceof SluiceError
            ? error.with({ seen: `not changed, because ${name} does not serve: ${error.seen}` })
            : error;
        });
      }),
    );
  }

  /** The failure names the changed keys: the container itself may report nothing. */
  private async componentsFollow(
    change: { readonly before: Components; readonly effect: ComponentEffect },
    running = "",
  ): Promise<void> {
    try {
      await componentsFollow(change, this.componentWait(), this.context);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      const places = (configChanges(running, this.target.machineConfiguration) ?? []).map(placeOf);
      const named = places.length > mostNamed ? [...places.slice(0, mostNamed), "..."] : places;
      throw error.with({ seen: `${error.seen}\nchanged: ${named.join(", ")}` });
    }
  }

  /** It has the wanted config, but an earlier run may have ended because the config does not work. */
  private async checkCrashes(client: NodeClient): Promise<void> {
    const fault = servingFault(await readComponents(client));
    if (fault?.isPermanent) throw new SluiceError({ code: "SLU-T216", seen: fault.seen });
  }

  private componentWait() {
    return { open: () => this.node.open(), until: this.node.until };
  }

  private async etcdHealthy(member: string, open: () => NodeClient): Promise<void> {
    await memberIsHealthy(member, { open, until: this.node.until }, this.context);
  }

  private async checkIdentity(client: NodeClient): Promise<void> {
    const fault = await identityFault(client, this.target.identity);
    if (fault !== undefined) throw new SluiceError({ code: "SLU-T302", seen: fault });
  }

  /** Talos cannot turn a worker into a control plane: if it would have to, the address probably belongs to another node. */
  private checkRole(running: string | undefined): void {
    const type = machineSection(running ?? "")?.type;
    if (type === undefined || type === this.target.role) return;
    throw new SluiceError({ code: "SLU-T302", seen: `it runs as ${type}, but should be ${this.target.role}` });
  }
}
