// What the engine asks of a Bootstrap. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../gates/clock.ts";
import { isUnanswered } from "./client/nodeState.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import { etcdIsHealthy, lookAtEtcd } from "./etcdVoices.ts";
import { type NodeClient, using, type World } from "./nodeAccess.ts";
import { asFailure, endMessage, NodeFailure } from "./nodeFailure.ts";
import { repeat } from "./repeat.ts";
import { ServiceNews } from "./serviceNews.ts";
import { inEngine, type Surroundings } from "./surroundings.ts";

export interface ControlPlane {
  readonly node: string;
  /** Where the machine is reached from here. */
  readonly endpoint: string;
  /** Changes when the machine is another one. */
  readonly machineId: string;
}

export interface BootstrapInputs {
  /** All of the cluster; the first is the one that is bootstrapped. */
  readonly controlPlanes: readonly ControlPlane[];
  readonly credentials: TalosCredentials;
  /** Seconds until etcd must run. */
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface BootstrapState extends BootstrapInputs {
  /** False when a later look found no etcd on any control plane. */
  readonly bootstrapped: boolean;
}

/** Seconds for which a cluster that was bootstrapped once must be without etcd: members that reboot look for a while as if they never were. */
const rebooted = 30;
/** Seconds for all that a refresh asks. */
const readDeadline = 5;

export const operations = {
  async create(inputs: BootstrapInputs, world: World) {
    await bootstrap(inputs, world, 0);
    return { id: "bootstrap", outs: { ...inputs, bootstrapped: true } };
  },

  /**
   * As the first time: where etcd is, on whichever control plane, nothing is done. Those that are in the list no more count, too: until they have
   * left, all that there is may be on them.
   */
  async update(olds: BootstrapState, news: BootstrapInputs, world: World) {
    const leaving = olds.controlPlanes.filter((was) => !news.controlPlanes.some(({ node }) => node === was.node));
    const all = { ...news, controlPlanes: [...news.controlPlanes, ...leaving] };
    await bootstrap(all, world, rebooted);
    return { outs: { ...news, bootstrapped: true } };
  },

  /** Offline. */
  diff(olds: BootstrapState, news: BootstrapInputs) {
    const matters = ({ controlPlanes, credentials }: BootstrapInputs) => ({ controlPlanes, credentials });
    return { changes: !olds.bootstrapped || !isDeepStrictEqual(matters(olds), matters(news)) };
  },

  /** Bounded, and never throws. Only when every control plane says that it has no etcd is there none. */
  async read(id: string, props: BootstrapState, world: Surroundings) {
    const looks = props.controlPlanes.map((node) => lookAtEtcd(node, props.credentials, world));
    const seen = await within(world.clock, readDeadline, Promise.all(looks));
    const isGone = seen?.every(({ kind }) => kind === "none") ?? false;
    if (isGone)
      await world.note("no control plane has an etcd: the cluster is gone, or its nodes were reset", "warning");
    return { id, props: { ...props, bootstrapped: !isGone } };
  },
};

export const create = (inputs: BootstrapInputs) =>
  inEngine(inputs.row, (world) => operations.create(inputs, world), outcome);
export const update = (_id: string, olds: BootstrapState, news: BootstrapInputs) =>
  inEngine(news.row, (world) => operations.update(olds, news, world), outcome);
export const diff = async (_id: string, olds: BootstrapState, news: BootstrapInputs) => operations.diff(olds, news);
export const read = (id: string, props: BootstrapState) =>
  inEngine(props.row, (world) => operations.read(id, props, world));

const outcome = () => "etcd runs";

async function bootstrap(inputs: BootstrapInputs, world: World, certainAfter: number): Promise<void> {
  const { clock } = world;
  const began = clock.now();
  const run = new Run(inputs, world, { until: began + inputs.deadline * 1000, certainAfter });
  try {
    await run.toTheEnd();
  } catch (error) {
    const failure = asFailure(error, "SLU-T207", { call: "bootstrap" });
    const { attempts, where: node, seen: state } = run;
    const seconds = (clock.now() - began) / 1000;
    throw new Error(endMessage(failure, { node, what: "etcd to be bootstrapped", state, attempts, seconds }));
  }
}

class Run {
  /** How often Bootstrap was called. */
  attempts = 0;
  where: string;
  seen = "not reached";
  private readonly first: ControlPlane;
  private readonly inputs: BootstrapInputs;
  private readonly world: World;
  private readonly until: number;
  private readonly certainAfter: number;
  /** Since when no control plane has had an etcd. */
  private noneSince: number | undefined;

  constructor(
    inputs: BootstrapInputs,
    world: World,
    { until, certainAfter }: { readonly until: number; readonly certainAfter: number },
  ) {
    const [first] = inputs.controlPlanes;
    if (first === undefined) throw new Error("a cluster needs a control plane");
    this.first = first;
    this.where = first.node;
    this.inputs = inputs;
    this.world = world;
    this.until = until;
    this.certainAfter = certainAfter;
  }

  /** What it waits for most often, a service that comes up, it is told of; the rest it asks for. */
  async toTheEnd(): Promise<void> {
    const { world, until } = this;
    const { controlPlanes } = this.inputs;
    const news = new ServiceNews(
      controlPlanes.map((node) => () => this.open(node)),
      until,
      world,
    );
    const attempt = async () => {
      const late = await this.attempt();
      if (late === undefined) return { found: true };
      world.report(`${late.seen}; asks again`);
      return { late };
    };
    try {
      await repeat(attempt, { ...world, until: () => until, rest: (milliseconds) => news.within(milliseconds) });
    } finally {
      news.end();
    }
  }

  /** Nothing when etcd runs, else why it was not bootstrapped yet. */
  private async attempt(): Promise<NodeFailure | undefined> {
    const { controlPlanes, credentials } = this.inputs;
    const found = await Promise.all(controlPlanes.map((node) => lookAtEtcd(node, credentials, this.world)));
    const there = controlPlanes.find((_, place) => found[place]?.kind === "there");
    if (there !== undefined) {
      this.seen = `etcd is on ${there.node} already`;
      return await this.running(there);
    }
    // A second bootstrap would begin a second cluster, so it must be certain that there is none: on every control plane.
    const unsure = found.findIndex(({ kind }) => kind === "unknown");
    const [unknown, node] = [found[unsure], controlPlanes[unsure]];
    if (unknown?.kind === "unknown" && node !== undefined) {
      this.noneSince = undefined;
      this.where = node.node;
      this.seen = "not known to have no etcd";
      return new NodeFailure("SLU-T204", unknown.why);
    }
    this.where = this.first.node;
    this.seen = "without etcd";
    this.noneSince ??= this.world.clock.now();
    if (this.world.clock.now() - this.noneSince < this.certainAfter * 1000) {
      return new NodeFailure(
        "SLU-T204",
        `no control plane has an etcd, but that must be so for ${this.certainAfter} s`,
      );
    }
    return await using(this.open(this.first), (client) => this.call(client));
  }

  private async call(client: NodeClient): Promise<NodeFailure | undefined> {
    this.world.report(`bootstraps etcd on ${this.first.node}`);
    let boot: string | undefined;
    try {
      boot = await client.bootId();
      this.attempts += 1;
      await client.bootstrap();
    } catch (error) {
      const failure = asFailure(error, "SLU-T207", { call: "bootstrap" });
      if (failure.code !== "SLU-T203") {
        if (!failure.passing) throw failure;
        // Refused, or the answer was lost: whether it was heard shows when etcd is looked at again.
        return failure;
      }
    }
    this.seen = "bootstrapped";
    return await this.running(this.first, boot);
  }

  /** `boot` is the one in which the node was told to bootstrap, where it was told now. */
  private async running(node: ControlPlane, boot?: string): Promise<NodeFailure | undefined> {
    this.where = node.node;
    const forgotten = new NodeFailure("SLU-T204", "it went down before etcd had written anything");
    const lost = async () => {
      if (boot !== undefined && (await this.hasForgotten(node, boot))) throw forgotten;
    };
    try {
      await etcdIsHealthy(node.node, { open: () => this.open(node), until: this.until, lost }, this.world);
      return undefined;
    } catch (error) {
      if (error === forgotten) return forgotten;
      throw error;
    }
  }

  /** Until etcd has data the call is in the node's memory alone. Should there be data after all, it refuses to be told again. */
  private async hasForgotten(node: ControlPlane, boot: string): Promise<boolean> {
    try {
      if ((await using(this.open(node), (client) => client.bootId())) === boot) return false;
    } catch (error) {
      if (isUnanswered(error)) return false;
      throw error;
    }
    return (await lookAtEtcd(node, this.inputs.credentials, this.world)).kind === "none";
  }

  private open({ endpoint }: ControlPlane): NodeClient {
    return this.world.access.configured(endpoint, this.inputs.credentials);
  }
}

/** Nothing when it takes longer. */
function within<T>(clock: Clock, seconds: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((done) => {
    const takeBack = clock.after(seconds * 1000, () => done(undefined));
    work.then(done, () => done(undefined)).finally(takeBack);
  });
}
