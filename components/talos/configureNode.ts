import type { FailureCode } from "../errors/catalogue.ts";
import { LivingCluster } from "../lifecycle/joining.ts";
import type { Peer } from "../lifecycle/kubernetesAccess.ts";
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import type { Applied, ApplyMode, TalosCredentials } from "./client/talosClient.ts";
import { isSameConfig } from "./configDiff.ts";
import { machineSection } from "./configDocuments.ts";
import { type Turn, takeTurn } from "./controlPlaneTurn.ts";
import { hasEtcd, memberIsHealthy } from "./etcdVoices.ts";
import { type NodeClient, using, type World } from "./nodeAccess.ts";
import { asFailure, endMessage, NodeFailure } from "./nodeFailure.ts";
import {
  describeDisks,
  identityFault,
  lookAt,
  type NodeLook,
  persistentConfig,
  runningConfig,
} from "./nodeResources.ts";
import { type RetryPolicy, retry } from "./retry.ts";
import { TargetNode } from "./targetNode.ts";

/** What a node is to be. */
export interface NodeTarget {
  /** The node's name, as every message calls it. */
  readonly node: string;
  readonly role: Role;
  /** Where the machine is reached from here. */
  readonly endpoint: string;
  /** In the node network. */
  readonly address: string;
  /** The control planes, but for the node itself. */
  readonly peers: readonly Peer[];
  /** The machine config, to the letter. */
  readonly config: string;
  readonly credentials: TalosCredentials;
  readonly identity: MachineIdentity;
  readonly retry: RetryPolicy;
  /** Seconds for the whole; waiting for other control planes does not count. */
  readonly deadline: number;
}

export interface Configured extends NodeLook {
  readonly did: "nothing" | "applied" | "rebooted";
  readonly attempts: number;
  /** Why the try before the last one failed, where there was one. */
  readonly lastError?: FailureCode;
}

/** Seconds for a call that the node has to think about: it validates, and matches disks. Whether one that was lost was heard is found out then. */
const applyDeadline = 15;

/** Brings a node to the config that is wanted, from wherever it stands, and proves that it runs it. What is so already is left alone. */
export async function configureNode(target: NodeTarget, world: World): Promise<Configured> {
  const began = world.clock.now();
  let lastError: FailureCode | undefined;
  const run = new Run(target, world, new TargetNode(target, began + target.deadline * 1000, world));
  const result = await retry(() => run.attempt(), {
    policy: target.retry,
    clock: world.clock,
    chance: world.chance,
    until: () => run.node.until,
    passes: (error) => run.failure(error).passing,
    onRetry: (error, attempt, delay) => {
      const { code, seen } = run.failure(error);
      lastError = code;
      world.report(`try ${attempt} failed: ${seen}; again in ${delay.toFixed(1)} s`);
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
  const seconds = (world.clock.now() - began) / 1000;
  throw new Error(
    endMessage(failure, { node, what: "the node to run its config", state, attempts: result.attempts, seconds }),
  );
}

class Run {
  did: Configured["did"] = "nothing";
  turn: Turn | undefined;
  readonly node: TargetNode;
  private readonly target: NodeTarget;
  private readonly world: World;

  constructor(target: NodeTarget, world: World, node: TargetNode) {
    this.target = target;
    this.world = world;
    this.node = node;
  }

  failure(error: unknown, disks?: readonly string[]): NodeFailure {
    return asFailure(error, "SLU-T206", { call: "applyConfiguration", ...(disks && { disks }) });
  }

  /** Once through: where the node stands is asked anew each time, so nothing of an attempt before is taken for granted. */
  async attempt(): Promise<NodeLook> {
    const { node } = this;
    const state = await node.answering();
    if (state.kind === "foreign") throw new NodeFailure("SLU-T109", state.why);
    if (state.kind === "maintenance") {
      await this.join();
    } else {
      await using(node.open(), (client) => this.change(client));
    }
    return await using(node.open(), (client) => lookAt(client));
  }

  /** The machine has no config. In a cluster that lives control planes come one at a time, each when the one before votes. */
  private async join(): Promise<void> {
    const { node, target } = this;
    const cluster = await LivingCluster.of(target, this.world);
    if (cluster !== undefined && target.role === "controlplane") await this.waitForTurn();
    await using(node.openInMaintenance(), async (client) => {
      await this.checkIdentity(client);
      await cluster?.makeRoom(client, node.until);
      await this.apply(client, "AUTO");
    });
    await node.runs(target.config);
    await cluster?.joined(node.until);
  }

  /** The node is ours: only a difference is sent, and in the mode that disturbs least. */
  private async change(client: NodeClient): Promise<void> {
    const { config, role } = this.target;
    await this.checkIdentity(client);
    const [running, persistent] = await Promise.all([runningConfig(client), persistentConfig(client)]);
    const isKept = persistent === undefined || isSameConfig(persistent, config);
    if (running !== undefined && isSameConfig(running, config) && isKept) return;
    this.checkRole(running);

    const isMember = role === "controlplane" && (await hasEtcd(client));
    if (isMember) await this.waitForTurn();
    const { mode } = await this.call(client, "AUTO", true);
    if (mode === "REBOOT") {
      if (isMember) await this.othersHealthy(client);
      // A run before may have come as far as this: then the config waits for the reboot already.
      if (persistent === undefined || !isKept) await this.apply(client, "STAGED");
      const before = await this.node.standing(client);
      await this.node.reboot(client);
      this.did = "rebooted";
      await this.node.runs(config, this.target.deadline);
      await this.node.standsAs(before);
    } else {
      await this.apply(client, "NO_REBOOT");
      await this.node.runs(config);
    }
    if (isMember) await this.etcdHealthy(this.target.node, () => this.node.open());
  }

  private async apply(client: NodeClient, mode: "AUTO" | "NO_REBOOT" | "STAGED"): Promise<void> {
    this.world.report(mode === "STAGED" ? "sends the config for the next boot" : "sends the config");
    await this.call(client, mode, false);
    if (mode !== "STAGED") this.did = "applied";
  }

  /** A refusal of the disk says which there are. */
  private async call(client: NodeClient, mode: ApplyMode, dryRun: boolean): Promise<Applied> {
    try {
      const { config } = this.target;
      const left = (this.node.until - this.world.clock.now()) / 1000;
      const deadline = Math.min(applyDeadline, Math.max(left, 1));
      return await client.applyConfiguration({ config, mode, dryRun }, { deadline });
    } catch (error) {
      const { code } = this.failure(error);
      const disks = code === "SLU-T202" ? await describeDisks(client) : undefined;
      throw this.failure(error, disks);
    }
  }

  /** No other control plane is changed until this run ends. */
  private async waitForTurn(): Promise<void> {
    const { clock, report } = this.world;
    if (this.turn !== undefined) return;
    report("waits for its turn: control planes are changed one at a time");
    const asked = clock.now();
    this.turn = await takeTurn(this.target.credentials.ca);
    this.node.until += clock.now() - asked;
  }

  /** A reboot takes one voice from etcd: every other member must be there to speak for it. */
  private async othersHealthy(client: NodeClient): Promise<void> {
    const { access } = this.world;
    const { node, endpoint, credentials } = this.target;
    const others = (await client.etcdMembers()).filter(({ name }) => name !== node);
    await Promise.all(
      others.map(({ name, peerUrls }) => {
        const { hostname } = new URL(peerUrls[0] ?? `https://${name}`);
        return this.etcdHealthy(name, () => access.configured(endpoint, credentials, hostname));
      }),
    );
  }

  private async etcdHealthy(member: string, open: () => NodeClient): Promise<void> {
    await memberIsHealthy(member, { open, until: this.node.until }, this.world);
  }

  private async checkIdentity(client: NodeClient): Promise<void> {
    const fault = await identityFault(client, this.target.identity);
    if (fault !== undefined) throw new NodeFailure("SLU-T302", fault);
  }

  /** Talos cannot make a worker a control plane; that it should is the sign of an address that belongs to another node. */
  private checkRole(running: string | undefined): void {
    const type = machineSection(running ?? "")?.type;
    if (type === undefined || type === this.target.role) return;
    throw new NodeFailure("SLU-T302", `it runs as ${type}, and is to be ${this.target.role}`);
  }
}
