import { pause } from "../gates/clock.ts";
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import { isUnanswered, type NodeState } from "./client/nodeState.ts";
import { resources } from "./client/resources.ts";
import type { Applied, ApplyMode, TalosCredentials } from "./client/talosClient.ts";
import { isSameConfig } from "./configDiff.ts";
import { configDocuments, isMapping, mainDocument } from "./configDocuments.ts";
import { type Turn, takeTurn } from "./controlPlaneTurn.ts";
import { follow, OutOfTime } from "./followNode.ts";
import { type NodeClient, using, type World } from "./nodeAccess.ts";
import { asFailure, endMessage, NodeFailure } from "./nodeFailure.ts";
import {
  configText,
  describeDisks,
  identityFault,
  isEtcdHealthy,
  lookAt,
  machineConfigs,
  type NodeLook,
  persistentConfig,
  runningConfig,
  runningId,
} from "./nodeResources.ts";
import { type RetryPolicy, retry } from "./retry.ts";

/** What a node is to be. */
export interface NodeTarget {
  /** The node's name, as every message calls it. */
  readonly node: string;
  readonly role: Role;
  /** Where the machine is reached from here. */
  readonly endpoint: string;
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
}

/** Seconds for a call that the node has to think about: it validates, and matches disks. */
const applyDeadline = 30;
/** Seconds for which a node may go on with the config of before, or in maintenance, once it took the new one. */
const takingOver = 15;
/** Seconds after which a reboot that was not confirmed has not been heard. */
const rebootHeard = 60;
/** Seconds before a node that does not answer is asked again, the first time and at most. */
const [askAgain, askAgainAtMost] = [0.25, 3];

/** Brings a node to the config that is wanted, from wherever it stands, and proves that it runs it. What is so already is left alone. */
export async function configureNode(target: NodeTarget, world: World): Promise<Configured> {
  const run = new Run(target, world);
  const result = await retry(() => run.attempt(), {
    policy: target.retry,
    clock: world.clock,
    chance: world.chance,
    until: () => run.until,
    passes: (error) => run.failure(error).passing,
    onRetry: (error, attempt, delay) =>
      world.report(`try ${attempt} failed: ${run.failure(error).seen}; again in ${delay.toFixed(1)} s`),
  });
  if (result.ok) {
    run.turn?.end();
    return { ...result.value, attempts: result.attempts, did: run.did };
  }
  const failure = run.failure(result.error);
  run.turn?.end(`${target.node}: ${failure.seen}`);
  const { node } = target;
  const { seen: state, seconds } = run;
  throw new Error(
    endMessage(failure, { node, what: "the node to run its config", state, attempts: result.attempts, seconds }),
  );
}

class Run {
  did: Configured["did"] = "nothing";
  /** What the node was seen to be last. */
  seen = "not reached";
  /** By the clock. */
  until: number;
  turn: Turn | undefined;
  private readonly began: number;
  private readonly target: NodeTarget;
  private readonly world: World;

  constructor(target: NodeTarget, world: World) {
    this.target = target;
    this.world = world;
    this.began = world.clock.now();
    this.until = this.began + target.deadline * 1000;
  }

  get seconds(): number {
    return (this.world.clock.now() - this.began) / 1000;
  }

  failure(error: unknown, disks?: readonly string[]): NodeFailure {
    return asFailure(error, "SLU-T206", { call: "applyConfiguration", ...(disks && { disks }) });
  }

  /** Once through: where the node stands is asked anew each time, so nothing of an attempt before is taken for granted. */
  async attempt(): Promise<NodeLook> {
    const { access } = this.world;
    const { endpoint } = this.target;
    const state = await this.answering();
    if (state.kind === "foreign") throw new NodeFailure("SLU-T109", state.why);
    if (state.kind === "maintenance") {
      await using(access.maintenance(endpoint), async (client) => {
        await this.checkIdentity(client);
        await this.apply(client, "AUTO");
      });
      await this.taken(takingOver);
    } else {
      await using(this.open(), (client) => this.change(client));
    }
    return await using(this.open(), (client) => lookAt(client));
  }

  /** What the node is, as soon as it is something that can be gone on with, or never can. */
  private async answering(): Promise<Exclude<NodeState, { kind: "unreachable" | "settling" }>> {
    const { access, clock, report } = this.world;
    for (let delay = askAgain; ; delay = Math.min(askAgainAtMost, delay * 1.5)) {
      const state = await access.probe(this.target.endpoint, this.target.credentials);
      this.seen = state.kind;
      if (state.kind !== "unreachable" && state.kind !== "settling") return state;
      const why = awayBecause(state);
      report(why);
      if (clock.now() + delay * 1000 >= this.until) {
        throw new NodeFailure(state.kind === "unreachable" && state.refused ? "SLU-T102" : "SLU-T101", why);
      }
      await pause(clock, delay * 1000, never);
    }
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
      await this.reboot(client);
    } else {
      await this.apply(client, "NO_REBOOT");
      await this.taken(takingOver);
    }
    if (isMember) await this.etcdHealthy(this.target.node, () => this.open());
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
      return await client.applyConfiguration({ config, mode, dryRun }, { deadline: applyDeadline });
    } catch (error) {
      const { code } = this.failure(error);
      const disks = code === "SLU-T202" ? await describeDisks(client) : undefined;
      throw this.failure(error, disks);
    }
  }

  /** Sent once. When the answer is lost, whether it was heard shows by itself. */
  private async reboot(client: NodeClient): Promise<void> {
    this.world.report("reboots into the new config");
    const isHeard = await client.reboot().then(
      () => true,
      (error) => {
        if (!isUnanswered(error)) throw error;
        return false;
      },
    );
    this.did = "rebooted";
    await this.taken(isHeard ? this.target.deadline : rebootHeard);
  }

  /** Waits until the node runs the config. `patience` is how many seconds it may go on as it was before. */
  private async taken(patience: number): Promise<void> {
    const { access, clock, report } = this.world;
    const { endpoint, credentials, config } = this.target;
    const limit = clock.now() + patience * 1000;
    this.world.report("waits until the node runs the config");
    const end = await follow(this.world, {
      open: () => this.open(),
      of: machineConfigs,
      until: this.until,
      judge: (specs) => {
        const running = configText(specs.get(runningId));
        if (running === undefined) return undefined;
        if (isSameConfig(running, config)) return "same";
        return clock.now() > limit ? "other" : undefined;
      },
      lost: async () => {
        const state = await access.probe(endpoint, credentials);
        this.seen = state.kind;
        if (state.kind === "foreign") throw new NodeFailure("SLU-T109", state.why);
        if (state.kind === "maintenance" && clock.now() > limit) {
          throw new NodeFailure("SLU-T107", "it took the config and is in maintenance again", { passing: true });
        }
        if (state.kind !== "ours") report(`waits until the node is back: ${awayBecause(state)}`);
      },
    });
    this.seen = "ours";
    if (end === "same") return;
    throw new NodeFailure("SLU-T208", `${patience} s after it took our config it runs another`, { passing: true });
  }

  /** No other control plane is changed until this run ends. */
  private async waitForTurn(): Promise<void> {
    const { clock, report } = this.world;
    if (this.turn !== undefined) return;
    report("waits for its turn: control planes are changed one at a time");
    const asked = clock.now();
    this.turn = await takeTurn(this.target.credentials.ca);
    this.until += clock.now() - asked;
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
    this.world.report(`waits for etcd on ${member} to be healthy`);
    try {
      const judge = (specs: ReadonlyMap<string, unknown>) => isEtcdHealthy(specs.get("etcd")) || undefined;
      await follow(this.world, { open, of: resources.services, until: this.until, judge });
    } catch (error) {
      if (error instanceof OutOfTime) throw new NodeFailure("SLU-T321", `etcd on ${member} is not healthy`);
      throw error;
    }
  }

  private async checkIdentity(client: NodeClient): Promise<void> {
    const fault = await identityFault(client, this.target.identity);
    if (fault !== undefined) throw new NodeFailure("SLU-T302", fault);
  }

  /** Talos cannot make a worker a control plane; that it should is the sign of an address that belongs to another node. */
  private checkRole(running: string | undefined): void {
    const main = configDocuments(running ?? "")?.find(({ title }) => title === mainDocument)?.body;
    const type = isMapping(main) && isMapping(main.machine) ? main.machine.type : undefined;
    if (type === undefined || type === this.target.role) return;
    throw new NodeFailure("SLU-T302", `it runs as ${type}, and is to be ${this.target.role}`);
  }

  private open(): NodeClient {
    return this.world.access.configured(this.target.endpoint, this.target.credentials);
  }
}

/** Why a node cannot be gone on with yet. */
function awayBecause(state: Exclude<NodeState, { kind: "ours" | "foreign" }>): string {
  switch (state.kind) {
    case "maintenance":
      return "it is in maintenance";
    case "settling":
      return `it waits for a certificate, which a worker gets from a control plane, in stage ${state.stage}`;
    case "unreachable":
      return state.refused ? `it boots, installs or reboots (${state.why})` : `it does not answer: ${state.why}`;
  }
}

/** etcd has been started here: before the bootstrap its service waits. */
async function hasEtcd(client: NodeClient): Promise<boolean> {
  const etcd = (await client.services()).find(({ id }) => id === "etcd");
  return etcd !== undefined && etcd.state !== "Preparing" && etcd.state !== "Waiting";
}

/** Nobody ends these waits: each is bounded by the deadline. */
const never = new AbortController().signal;
