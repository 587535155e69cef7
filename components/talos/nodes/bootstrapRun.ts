// One run of a bootstrap: observes, takes the next step, and repeats this until etcd is healthy.
import { SluiceError } from "../../errors/sluiceError.ts";
import { pause } from "../../waiting/clock.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import { type NodeClient, type NodeContext, using } from "../access/nodeAccess.ts";
import { asFailure, endFailure } from "../access/nodeFailure.ts";
import { ServiceNews } from "../access/serviceChanges.ts";
import { TargetNode } from "../access/targetNode.ts";
import { type BootstrapStep, nextStep } from "../etcd/etcdJudgement.ts";
import { EtcdObserver } from "../etcd/etcdObserver.ts";
import type { BootstrapInputs } from "./bootstrap.provider.ts";

type ControlPlane = BootstrapInputs["controlPlanes"][number];

const gone = "no control plane has an etcd, although the cluster was bootstrapped";

/** Seconds for the call. After them it is cancelled, which would stop a starting etcd: Talos needs one or two, or many on a busy machine. */
const callSeconds = 60;
/** Bytes per second at which a snapshot is uploaded at least. */
const slowestRate = 256 * 1024;
/** The most milliseconds by which a call is delayed at random: if two runs start at once, the second one sees the first. */
const spreadMs = 250;

/** What etcd begins with, instead of nothing. */
export interface Beginning {
  /** As it is named in reports. */
  readonly title: string;
  /** Rejects if it cannot be used. Called before anything is sent to a node, and again where a call is repeated. */
  prepare(): Promise<{ readonly bytes: number }>;
  /** The snapshot as etcd has written it. Rejects at its end if it is not intact. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface BootstrapOptions {
  /** Of a cluster that was bootstrapped once: how long all control planes must be without etcd until it is certain that it is lost. */
  readonly lostAfterSeconds?: number;
  /** Without it a cluster that is lost stays so: who wants a new, empty one has to ask for it. */
  readonly beginning?: Beginning;
}

export type BootstrapTarget = Pick<BootstrapInputs, "controlPlanes" | "credentials" | "deadlineSeconds">;

/** Resolves once etcd is healthy, with the number of calls that this took: 0 if it existed. */
export async function bootstrap(
  inputs: BootstrapTarget,
  context: NodeContext,
  options: BootstrapOptions = {},
): Promise<number> {
  const { clock } = context;
  const began = clock.now();
  const run = new Run(inputs, context, { until: began + inputs.deadlineSeconds * 1000, ...options });
  try {
    await run.toTheEnd();
    return run.attempts;
  } catch (error) {
    const failure = asFailure(error, "SLU-T207", { call: "bootstrap" });
    const { attempts, where: node, seen: state } = run;
    const seconds = (clock.now() - began) / 1000;
    const what = options.beginning === undefined ? "etcd to be bootstrapped" : "etcd to be restored";
    throw endFailure(failure, { node, what, state, attempts, seconds });
  }
}

interface RunOptions extends BootstrapOptions {
  /** By the clock. */
  readonly until: number;
}

class Run {
  /** How often Bootstrap was called. */
  attempts = 0;
  where: string;
  seen = "not reached";
  private readonly first: ControlPlane;
  private readonly inputs: BootstrapTarget;
  private readonly context: NodeContext;
  private until: number;
  private readonly options: BootstrapOptions;
  private readonly observer: EtcdObserver;
  /** Since when no control plane has had an etcd. */
  private noneSince: number | undefined;
  /** The boots in which nodes received a call to reboot. */
  private readonly rebooted = new Map<string, string>();
  private reported = "";

  constructor(inputs: BootstrapTarget, context: NodeContext, { until, ...options }: RunOptions) {
    const [first] = inputs.controlPlanes;
    if (first === undefined) throw new Error("a cluster needs a control plane");
    this.first = first;
    this.where = first.name;
    this.inputs = inputs;
    this.context = context;
    this.until = until;
    this.options = options;
    this.observer = new EtcdObserver(inputs.credentials, context);
  }

  /** A service that starts ends the pause between two observations. */
  async toTheEnd(): Promise<void> {
    const { context, until } = this;
    const { controlPlanes } = this.inputs;
    const news = new ServiceNews(
      controlPlanes.map((node) => () => this.open(node)),
      until,
      context,
    );
    const attempt = async (): Promise<Polled<true>> => {
      const late = await this.take(await this.next());
      return late === undefined ? { found: true } : { late, isFresh: this.report(`${this.where}: ${late.seen}`) };
    };
    try {
      await poll(attempt, { ...context, until: () => this.until, rest: (milliseconds) => news.within(milliseconds) });
    } finally {
      news.end();
    }
  }

  private async next(): Promise<BootstrapStep> {
    const { controlPlanes } = this.inputs;
    const judged = await Promise.all(controlPlanes.map((node) => this.observer.judge(node)));
    return nextStep(judged.map((etcd, place) => ({ name: controlPlanes[place]?.name ?? "", etcd })));
  }

  /** Undefined if etcd is healthy, else why it is not yet. */
  private async take(step: BootstrapStep): Promise<SluiceError | undefined> {
    const { clock } = this.context;
    if (step.kind === "call") {
      this.where = this.first.name;
      this.seen = "without etcd";
      const { lostAfterSeconds, beginning } = this.options;
      if (lostAfterSeconds === undefined) return await this.call(step.failed);
      this.noneSince ??= clock.now();
      const uncertain = this.lost(lostAfterSeconds, clock.now() - this.noneSince);
      return uncertain ?? (beginning === undefined ? this.isLost() : await this.call(step.failed));
    }
    this.noneSince = undefined;
    this.where = step.node;
    this.seen = step.kind === "wait" && step.code === "SLU-T204" ? "not known to have no etcd" : "with an etcd";
    if (step.kind === "done") return undefined;
    const { why: seen } = step;
    if (step.kind === "reboot") return await this.reboot(step.node, seen);
    const error = new SluiceError({ ...this.codeOf(step), seen });
    if (step.kind === "fail") throw error;
    return error;
  }

  /** Undefined once it is certain: members that reboot are for a while as if they had no etcd. */
  private lost(afterSeconds: number, noneForMs: number): SluiceError | undefined {
    if (noneForMs >= afterSeconds * 1000) return undefined;
    return new SluiceError({ code: "SLU-T204", seen: `${gone}; certain after ${afterSeconds} s` });
  }

  private isLost(): never {
    this.where = this.inputs.controlPlanes.map(({ name }) => name).join(", ");
    throw new SluiceError({ code: "SLU-T220", seen: gone });
  }

  private async call(failed: string | undefined): Promise<SluiceError | undefined> {
    const { clock, random } = this.context;
    const { beginning } = this.options;
    try {
      const changed = beginning === undefined ? undefined : await this.untimed(() => this.upload(beginning));
      if (changed !== undefined) return changed;
      await pause(clock, random() * spreadMs);
      // However long this took so far: the decision to call uses the node's state at this moment.
      const now = await this.observer.judge(this.first);
      if (now.kind !== "none") return new SluiceError({ code: "SLU-T204", seen: now.why });
      const what = beginning === undefined ? "bootstraps etcd" : "restores etcd from the snapshot";
      this.report(`${what} on ${this.first.name}${failed === undefined ? "" : ` again: ${failed}`}`);
      this.attempts += 1;
      const options = { deadlineSeconds: callSeconds, recoverEtcd: beginning !== undefined };
      await using(this.open(this.first), (client) => client.bootstrap(options));
    } catch (error) {
      const failure = asFailure(error, "SLU-T207", { call: "bootstrap" });
      // Refused, cancelled, or its answer was lost: the next observation shows which.
      if (!failure.retryable && failure.code !== "SLU-T203") throw failure;
      return failure;
    }
    return new SluiceError({ code: "SLU-T207", seen: "Talos accepted the call, and etcd starts" });
  }

  /** How long a download or an upload takes depends on its size, and not on etcd. */
  private async untimed<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.context;
    const began = clock.now();
    try {
      return await work();
    } finally {
      this.until += clock.now() - began;
    }
  }

  /** The node keeps the snapshot until it is bootstrapped; one that is cut off it does not keep. Undefined if it has it, else what has changed meanwhile. */
  private async upload(beginning: Beginning): Promise<SluiceError | undefined> {
    const { bytes } = await beginning.prepare();
    // The download may have taken minutes.
    const step = await this.next();
    if (step.kind !== "call") return new SluiceError({ code: "SLU-T204", seen: step.why });
    this.report(`uploads ${beginning.title} to ${this.first.name}`);
    const deadlineSeconds = callSeconds + bytes / slowestRate;
    await using(this.open(this.first), (client) => client.etcdRecover(beginning.chunks(), { deadlineSeconds }));
    return undefined;
  }

  /** Only once, and only if the node is certainly ours and no other control plane has an etcd. */
  private async reboot(name: string, why: string): Promise<SluiceError> {
    const { context, inputs, rebooted, until } = this;
    const node = inputs.controlPlanes.find((one) => one.name === name) ?? this.first;
    const before = rebooted.get(name);
    const failure = new SluiceError({
      ...this.codeOf({ code: "SLU-T219", node: name }),
      seen: `${why}${before === undefined ? "" : ", after Sluice rebooted the node"}`,
    });
    try {
      await using(this.open(node), async (client) => {
        const boot = await client.bootId();
        if (before === boot) return;
        if (before !== undefined) throw failure;
        this.report(`reboots ${name}: its etcd was stopped while it was starting (${why})`);
        const quiet = { ...context, report: () => undefined };
        await new TargetNode({ ...node, credentials: inputs.credentials }, until, quiet).reboot(client);
        rebooted.set(name, boot);
      });
    } catch (error) {
      const lost = asFailure(error, "SLU-T219");
      if (!lost.retryable) throw lost;
      return lost;
    }
    return failure;
  }

  /** The failure of one step, with the command that fixes it. */
  private codeOf({ code, node }: Pick<Extract<BootstrapStep, { code: unknown }>, "code" | "node">) {
    const address = this.inputs.controlPlanes.find(({ name }) => name === node)?.talosAddress;
    if (code !== "SLU-T219") return { code };
    return { code, remedy: `Run \`talosctl --nodes ${address} reboot\`, then \`npm run up -- <environment>\` again.` };
  }

  /** Whether this event is new. */
  private report(text: string): boolean {
    if (text === this.reported) return false;
    this.reported = text;
    this.context.report(text);
    return true;
  }

  private open({ talosAddress }: ControlPlane): NodeClient {
    return this.context.access.configured(talosAddress, this.inputs.credentials);
  }
}
