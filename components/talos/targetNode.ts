import { classify } from "../errors/classify.ts";
import { isUnanswered, type NodeState } from "./client/nodeState.ts";
import { resources } from "./client/resources.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import { isSameConfig } from "./configDiff.ts";
import { follow, OutOfTime } from "./followNode.ts";
import { type NodeClient, using, type World } from "./nodeAccess.ts";
import { NodeFailure } from "./nodeFailure.ts";
import { configText, machineConfigs, runningId, stageOf } from "./nodeResources.ts";
import { type Look, repeat } from "./repeat.ts";

/** Seconds for which a node may go on with the config of before, or in maintenance, once it took the new one. */
const takingOver = 15;
/** Seconds for a call that a node answers at once or not at all. */
const shortCall = 5;
/** Seconds for which a node must go on as before to have missed that it is to reboot: one that heard it is in another stage at once. */
const unmoved = 3;
/** Seconds for which a node's certificate may lack a name: that follows an address a moment later. */
const misnamed = 5;
/** The stages of a node that stays up. */
const staying = new Set(["booting", "running"]);

/** How far a node is. */
export interface Standing {
  readonly stage: string;
  /** Nothing is unmet: it is Ready in Kubernetes too. */
  readonly isReady: boolean;
}

function standingOf(spec: unknown): Standing {
  const { status } = (spec ?? {}) as { readonly status?: { readonly ready?: boolean } };
  return { stage: stageOf(spec), isReady: status?.ready === true };
}

/** A node on its way to what it is to be, waited for wherever it goes: off the network, through reboots, or astray. */
export class TargetNode {
  /** What it was seen to be last. */
  seen = "not reached";
  /** By the clock. */
  until: number;
  private readonly endpoint: string;
  private readonly credentials: TalosCredentials;
  private readonly world: World;

  constructor(
    { endpoint, credentials }: { readonly endpoint: string; readonly credentials: TalosCredentials },
    until: number,
    world: World,
  ) {
    this.endpoint = endpoint;
    this.credentials = credentials;
    this.until = until;
    this.world = world;
  }

  /** For a node that is ours. */
  open(): NodeClient {
    return this.world.access.configured(this.endpoint, this.credentials);
  }

  /** For a node that has no config. */
  openInMaintenance(): NodeClient {
    return this.world.access.maintenance(this.endpoint);
  }

  /** What the node is, as soon as it is something that can be gone on with, or never can. */
  async answering(): Promise<Exclude<NodeState, { kind: "invalid" | "unreachable" | "settling" }>> {
    let misnamedSince: number | undefined;
    return await this.repeat(async () => {
      const state = await this.probe();
      if (state.kind !== "unreachable" && state.kind !== "settling" && state.kind !== "invalid")
        return { found: state };
      const why = awayBecause(state);
      this.world.report(why);
      if (state.kind !== "invalid") misnamedSince = undefined;
      else {
        const { clock } = this.world;
        const late = new NodeFailure(state.of === "name" ? "SLU-T111" : "SLU-T112", why);
        misnamedSince = state.of === "name" ? (misnamedSince ?? clock.now()) : undefined;
        if (misnamedSince !== undefined && clock.now() - misnamedSince >= misnamed * 1000) throw late;
        return { late };
      }
      return {
        late: new NodeFailure(state.kind === "unreachable" && state.refused ? "SLU-T102" : "SLU-T101", why),
      };
    });
  }

  /** Waits until the node runs the config. `patience` is how many seconds it may go on with the one of before. */
  async runs(config: string, patience: number = takingOver): Promise<void> {
    const { clock, report } = this.world;
    const limit = clock.now() + patience * 1000;
    let withoutSince: number | undefined;
    report("waits until the node runs the config");
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
        const state = await this.probe();
        if (state.kind === "foreign") throw new NodeFailure("SLU-T109", state.why);
        withoutSince = state.kind === "maintenance" ? (withoutSince ?? clock.now()) : undefined;
        if (withoutSince !== undefined && clock.now() - withoutSince > takingOver * 1000) {
          throw new NodeFailure("SLU-T107", "it took the config and is in maintenance again", { passing: true });
        }
        if (state.kind !== "ours") report(`waits until the node is back: ${awayBecause(state)}`);
      },
    });
    this.seen = "ours";
    if (end === "same") return;
    throw new NodeFailure("SLU-T208", `${patience} s after it took our config it runs another`, { passing: true });
  }

  /** How far the node is, by its own word. */
  async standing(client: NodeClient): Promise<Standing> {
    return standingOf((await client.get(resources.machineStatus, "machine"))?.spec);
  }

  /** Waits until the node is as far as it was: until then the next one is not disturbed. */
  async standsAs(before: Standing): Promise<void> {
    this.world.report(`waits until the node is ${before.isReady ? "ready" : before.stage} again`);
    let now = before;
    const judge = (specs: ReadonlyMap<string, unknown>) => {
      now = standingOf(specs.get("machine"));
      return (now.stage === before.stage && (now.isReady || !before.isReady)) || undefined;
    };
    const wait = { open: () => this.open(), of: resources.machineStatus, until: this.until, judge };
    try {
      await follow(this.world, wait);
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      const unmet = now.stage === before.stage ? ", but not ready" : "";
      throw new NodeFailure("SLU-T311", `after the reboot it is in stage ${now.stage}${unmet}`);
    }
  }

  /** Resolves when the node is on its way down, or back. */
  async reboot(client: NodeClient): Promise<void> {
    this.world.report("reboots into the new config");
    await this.tell("reboot", client);
  }

  /** The same of a node that loses its config and its data. */
  async reset(client: NodeClient): Promise<void> {
    await this.tell("reset", client);
  }

  /** It is told once; where the answer is lost, whether it heard shows by the node itself. */
  private async tell(order: "reboot" | "reset", client: NodeClient): Promise<void> {
    const before = await client.bootId();
    try {
      await client[order]({ deadline: shortCall });
    } catch (error) {
      const { passing, seen } = classify(error);
      if (!passing || !isUnanswered(error)) throw error;
      await this.heardOf(order, before, seen);
    }
  }

  /** To be told a second time would fall on whatever the first has brought about: nobody does so who has not seen that there was none. */
  private async heardOf(order: "reboot" | "reset", before: string, lost: string): Promise<void> {
    const { clock, report } = this.world;
    report(`the answer is lost: looks whether the node ${order}s`);
    let unmovedSince: number | undefined;
    await this.repeat(async () => {
      const now = await this.boot();
      if (now !== "away" && (now.bootId !== before || !staying.has(now.stage))) return { found: true };
      if (now === "away") unmovedSince = undefined;
      else unmovedSince ??= clock.now();
      if (unmovedSince !== undefined && clock.now() - unmovedSince >= unmoved * 1000) {
        const seen = `it was told to ${order} (${lost}), and ${unmoved} s later is up as before`;
        throw new NodeFailure("SLU-T107", seen, { passing: true });
      }
      return { late: new OutOfTime("time is up", { cause: lost }) };
    });
  }

  /** Which boot the node is in, and its stage. One that lost its config counts as down: it is no longer as it was. */
  private async boot(): Promise<{ readonly bootId: string; readonly stage: string } | "away"> {
    const { kind } = await this.probe();
    if (kind === "unreachable" || kind === "settling" || kind === "invalid") return "away";
    if (kind !== "ours") return { bootId: "", stage: kind };
    const options = { deadline: shortCall };
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
    const state = await this.world.access.probe(this.endpoint, this.credentials);
    this.seen = state.kind;
    return state;
  }

  private async repeat<T>(look: () => Promise<Look<T>>): Promise<T> {
    return await repeat(look, { ...this.world, until: () => this.until });
  }
}

/** Why a node cannot be gone on with yet. */
function awayBecause(state: Exclude<NodeState, { kind: "ours" | "foreign" }>): string {
  switch (state.kind) {
    case "maintenance":
      return "it is in maintenance";
    case "settling":
      return `it waits for a certificate, which a worker gets from a control plane, in stage ${state.stage}`;
    case "invalid":
      return state.why;
    case "unreachable":
      return state.refused ? `it boots, installs or reboots (${state.why})` : `it does not answer: ${state.why}`;
  }
}
