import { SluiceError } from "../../errors/sluiceError.ts";
import type { Peer } from "../../model/peer.ts";
import type { Role } from "../../model/role.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import { classify } from "../client/classify.ts";
import { isUnanswered, type NodeState } from "../client/nodeState.ts";
import { resources } from "../client/resources.ts";
import type { TalosCredentials } from "../client/talosClient.ts";
import { isSameConfig } from "../config/configDiff.ts";
import { follow, OutOfTime } from "./followNode.ts";
import { type NodeClient, type NodeContext, using } from "./nodeAccess.ts";
import { configText, machineConfigs, runningId, stageOf } from "./nodeResources.ts";

/** Seconds for which a node may keep its previous config, or stay in maintenance, after it accepted the new one. */
const takeOverSeconds = 15;
/** Seconds for a call that a node answers at once or not at all. */
const shortCallSeconds = 5;
/** Seconds for which a node must run unchanged to count as not having received a reboot call: one that received it leaves its stage at once. */
const unmovedSeconds = 3;
/** Seconds for which a node's certificate may not have a name yet: it follows a new address a moment later. */
const misnamedSeconds = 5;
/** Seconds for which all control planes must be in maintenance to count as having lost their configs: each is in maintenance until its config is sent. */
const issuerSeconds = 20;
/** The stages in which a node stays up. */
const staying = new Set(["booting", "running"]);

/** How far a node has booted. */
export interface Standing {
  readonly stage: string;
  /** It has no unmet conditions: it is Ready in Kubernetes too. */
  readonly isReady: boolean;
}

function standingOf(spec: unknown): Standing {
  const { status } = (spec ?? {}) as { readonly status?: { readonly ready?: boolean } };
  return { stage: stageOf(spec), isReady: status?.ready === true };
}

/** A node on its way to the wanted state, followed through lost connections, reboots and failures. */
export class TargetNode {
  /** Its last observed state. */
  seen = "not reached";
  /** Deadline, by the clock. */
  until: number;
  private readonly talosAddress: string;
  private readonly credentials: TalosCredentials;
  private readonly role: Role | undefined;
  private readonly peers: readonly Peer[];
  private readonly context: NodeContext;
  /** Since when no control plane could issue the node's certificate. */
  private withoutIssuerSince: number | undefined;

  constructor(
    {
      talosAddress,
      credentials,
      role,
      peers = [],
    }: {
      readonly talosAddress: string;
      readonly credentials: TalosCredentials;
      readonly role?: Role;
      /** The control planes other than the node itself. */
      readonly peers?: readonly Peer[];
    },
    until: number,
    context: NodeContext,
  ) {
    this.talosAddress = talosAddress;
    this.credentials = credentials;
    this.role = role;
    this.peers = peers;
    this.until = until;
    this.context = context;
  }

  /** Connects to a node that is ours. */
  open(): NodeClient {
    return this.context.access.configured(this.talosAddress, this.credentials);
  }

  /** Connects to a node that has no config. */
  openInMaintenance(): NodeClient {
    return this.context.access.maintenance(this.talosAddress);
  }

  /** The node's state, once it allows work to continue or can never do so. */
  async answering(): Promise<Exclude<NodeState, { kind: "invalid" | "unreachable" | "settling" }>> {
    let misnamedSince: number | undefined;
    return await this.poll(async () => {
      const state = await this.probe();
      if (state.kind !== "unreachable" && state.kind !== "settling" && state.kind !== "invalid")
        return { found: state };
      const why = awayBecause(state, this.role);
      this.context.report(why);
      if (state.kind !== "invalid") misnamedSince = undefined;
      else {
        const { clock } = this.context;
        const late = new SluiceError({ code: state.of === "name" ? "SLU-T111" : "SLU-T112", seen: why });
        misnamedSince = state.of === "name" ? (misnamedSince ?? clock.now()) : undefined;
        if (misnamedSince !== undefined && clock.now() - misnamedSince >= misnamedSeconds * 1000) throw late;
        return { late };
      }
      return {
        late: new SluiceError({
          code: state.kind === "unreachable" && state.refused ? "SLU-T102" : "SLU-T101",
          seen: why,
        }),
      };
    });
  }

  /** The node's state at this moment. */
  async observe(): Promise<NodeState> {
    return await this.probe();
  }

  /** Waits until the node runs the config. `oldConfigSeconds` is how long it may keep the previous one. */
  async runs(config: string, oldConfigSeconds: number = takeOverSeconds): Promise<void> {
    const { clock, report } = this.context;
    const limit = clock.now() + oldConfigSeconds * 1000;
    let withoutSince: number | undefined;
    report("waits until the node runs the config");
    const end = await follow(this.context, {
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
        const state = await this.probe();
        if (state.kind === "foreign") throw new SluiceError({ code: "SLU-T109", seen: state.why });
        withoutSince = state.kind === "maintenance" ? (withoutSince ?? clock.now()) : undefined;
        if (withoutSince !== undefined && clock.now() - withoutSince > takeOverSeconds * 1000) {
          throw new SluiceError({
            code: "SLU-T215",
            seen: "it accepted the config and is in maintenance again",
            retryable: true,
          });
        }
        if (state.kind === "settling" || state.kind === "unreachable") await this.checkIssuers();
        if (state.kind !== "ours") report(`waits until the node is back: ${awayBecause(state, this.role)}`);
      },
    });
    this.seen = "ours";
    if (end === "same") return;
    throw new SluiceError({
      code: "SLU-T208",
      seen: `it accepted our config, but ${oldConfigSeconds} s later runs another one`,
      retryable: true,
    });
  }

  /** A worker gets its certificate from a control plane. If all of them are in maintenance again, it would wait in vain. */
  private async checkIssuers(): Promise<void> {
    const { access, clock } = this.context;
    if (this.role !== "worker" || this.peers.length === 0) return;
    const states = await Promise.all(this.peers.map((peer) => access.probe(peer.talosAddress, this.credentials)));
    const isLost = states.every(({ kind }) => kind === "maintenance");
    this.withoutIssuerSince = isLost ? (this.withoutIssuerSince ?? clock.now()) : undefined;
    if (this.withoutIssuerSince === undefined) return;
    if (clock.now() - this.withoutIssuerSince < issuerSeconds * 1000) return;
    const names = this.peers.map(({ name }) => name).join(", ");
    throw new SluiceError({
      code: "SLU-T215",
      seen: `it waits for its certificate, which a control plane issues, and ${names} ${this.peers.length === 1 ? "is" : "are"} in maintenance, without a config`,
    });
  }

  /** How far the node has booted, as it reports. */
  async standing(client: NodeClient): Promise<Standing> {
    return standingOf((await client.get(resources.machineStatus, "machine"))?.spec);
  }

  /** Waits until the node is as far as it was before the reboot: until then the next node is not touched. */
  async standsAs(before: Standing): Promise<void> {
    this.context.report(`waits until the node is ${before.isReady ? "ready" : before.stage} again`);
    let now = before;
    const judge = (specs: ReadonlyMap<string, unknown>) => {
      now = standingOf(specs.get("machine"));
      return (now.stage === before.stage && (now.isReady || !before.isReady)) || undefined;
    };
    const wait = { open: () => this.open(), of: resources.machineStatus, until: this.until, judge };
    try {
      await follow(this.context, wait);
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      const unmet = now.stage === before.stage ? ", but not ready" : "";
      throw new SluiceError({ code: "SLU-T311", seen: `after the reboot it is in stage ${now.stage}${unmet}` });
    }
  }

  /** Resolves when the node is going down, or is already back. */
  async reboot(client: NodeClient, into = "the new config"): Promise<void> {
    this.context.report(`reboots into ${into}`);
    await this.tell("reboot", client);
  }

  /** The same for a node that loses its config and its data. */
  async reset(client: NodeClient): Promise<void> {
    await this.tell("reset", client);
  }

  /** The call is made once; if its answer is lost, the node itself shows whether it received the call. */
  private async tell(order: "reboot" | "reset", client: NodeClient): Promise<void> {
    const before = await client.bootId();
    try {
      await client[order]({ deadlineSeconds: shortCallSeconds });
    } catch (error) {
      const { retryable, seen } = classify(error);
      if (!retryable || !isUnanswered(error)) throw error;
      await this.heardOf(order, before, seen);
    }
  }

  /** A second call could act on the result of the first one: it is made only once the node has shown that the first had no effect. */
  private async heardOf(order: "reboot" | "reset", before: string, lost: string): Promise<void> {
    const { clock, report } = this.context;
    report(`the answer is lost: checks whether the node ${order}s`);
    let unmovedSince: number | undefined;
    await this.poll(async () => {
      const now = await this.boot();
      if (now !== "away" && (now.bootId !== before || !staying.has(now.stage))) return { found: true };
      if (now === "away") unmovedSince = undefined;
      else unmovedSince ??= clock.now();
      if (unmovedSince !== undefined && clock.now() - unmovedSince >= unmovedSeconds * 1000) {
        const seen = `it was sent the ${order} call (${lost}), but is still up unchanged ${unmovedSeconds} s later`;
        throw new SluiceError({ code: "SLU-T107", seen, retryable: true });
      }
      return { late: new OutOfTime("time is up", { cause: lost }) };
    });
  }

  /** The current boot of the node, and its stage. A node that lost its config counts as down: it is no longer as it was. */
  private async boot(): Promise<{ readonly bootId: string; readonly stage: string } | "away"> {
    const { kind } = await this.probe();
    if (kind === "unreachable" || kind === "settling" || kind === "invalid") return "away";
    if (kind !== "ours") return { bootId: "", stage: kind };
    const options = { deadlineSeconds: shortCallSeconds };
    try {
      return await using(this.open(), async (client) => {
        const [bootId, status] = await Promise.all([
          client.bootId(options),
          client.get(resources.machineStatus, "machine", options),
        ]);
        return { bootId, stage: stageOf(status?.spec) };
      });
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      return "away";
    }
  }

  private async probe(): Promise<NodeState> {
    const state = await this.context.access.probe(this.talosAddress, this.credentials);
    this.seen = state.kind;
    return state;
  }

  private async poll<T>(look: () => Promise<Polled<T>>): Promise<T> {
    return await poll(look, { ...this.context, until: () => this.until });
  }
}

/** Why work on the node cannot continue yet. */
function awayBecause(state: Exclude<NodeState, { kind: "ours" | "foreign" }>, role: Role | undefined): string {
  switch (state.kind) {
    case "maintenance":
      return "it is in maintenance";
    case "settling":
      return settling(state.stage, role);
    case "invalid":
      return state.why;
    case "unreachable":
      return state.refused ? `it boots, installs or reboots (${state.why})` : `it does not answer: ${state.why}`;
  }
}

/** A control plane makes its own certificate; a worker gets it from a control plane. For a moment after it accepted its config a node reports no stage. */
function settling(stage: string, role: Role | undefined): string {
  const what = role === "worker" ? "it waits for its certificate, from a control plane" : "it makes its certificate";
  return stage === "" ? what : `${what}, in stage ${stage}`;
}
