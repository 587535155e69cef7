// Judges the etcd of each control plane, and decides what may be sent to the cluster. docs/decisions/bootstrap-once.md
import type { FailureCode } from "../../errors/catalogue.ts";
import type { ServiceEvent, TalosService } from "../client/talosClient.ts";

/** One observation of the etcd of a node that answers with our certificate. */
export interface EtcdObservation {
  /** Undefined while Talos has not reached etcd in its boot. */
  readonly etcd: TalosService | undefined;
  /** The service that pulls and runs containers. Talos refuses a bootstrap until it is healthy. */
  readonly cri: TalosService | undefined;
  /** Whether etcd has ever written any data. */
  readonly hasData: boolean;
  /** Talos' stage of the node. */
  readonly stage: string;
  /** Etcd's image, with the last log line of machined about its pull. */
  readonly image: { readonly name: string; readonly isPulled: boolean; readonly lastLine: string };
  /** Bootstrap calls in the last lines of machined's log, from any caller. */
  readonly requests: number;
  /** Seconds for which all of this has been unchanged, by our own clock. */
  readonly quietSeconds: number;
}

export type EtcdJudgement =
  | { readonly kind: "healthy"; readonly why: string }
  /** An etcd exists, or may be starting: nothing may be sent. */
  | { readonly kind: "busy"; readonly why: string; readonly code: FailureCode }
  /** No etcd exists, and none is starting. `failed` is how the last start ended, if there was one. */
  | { readonly kind: "none"; readonly failed?: string }
  /** It was stopped and has data; Talos starts it only at the next boot. */
  | { readonly kind: "stopped"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Seconds without any change after which nothing that Talos does not report can be in progress. Between two reported states there are only moments, but on a
 * busy machine a moment may take seconds.
 */
export const quietSeconds = 10;
/**
 * The same if an etcd may come from a bootstrap: once its image is there, it starts within seconds. A longer time without a change means a node whose clock
 * was set back.
 */
const stuckSeconds = 60;
/** Talos keeps this many events per service; a shorter list is complete. */
const eventsKept = 64;

const downStates = new Set(["Failed", "Finished", "Skipped"]);
const standingStages = new Set(["booting", "running"]);
/** Talos' own messages. */
const words = { preparing: "Running pre state", healthy: "Health check successful", stopped: "Bootstrap requested" };

export function judgeEtcd(seen: EtcdObservation): EtcdJudgement {
  const { etcd, hasData } = seen;
  if (etcd === undefined) return { kind: "unknown", why: "it has not reached etcd in its boot yet" };
  const last = etcd.events.at(-1)?.message ?? "";
  const why = `etcd is ${etcd.state}${etcd.message === "" ? "" : `: ${etcd.message}`}`;
  if (etcd.state === "Running" && etcd.healthy) return { kind: "healthy", why };
  const busy: EtcdJudgement = { kind: "busy", why, code: "SLU-T207" };
  if (etcd.state === "Preparing" && last === words.preparing) return judgePreparing(seen, busy);
  if (!downStates.has(etcd.state) || seen.quietSeconds < quietSeconds) return busy;
  if (!hasData) return { kind: "none", failed: why };
  // A node that goes down has stopped it too.
  return etcd.state === "Finished" && standingStages.has(seen.stage) ? { kind: "stopped", why } : busy;
}

/** It pulls its image, waits to join or to be bootstrapped, or is about to start: Talos has one name for all of these. */
function judgePreparing(seen: EtcdObservation, busy: EtcdJudgement): EtcdJudgement {
  const { image, hasData } = seen;
  const pull = image.lastLine === "" ? `pulls ${image.name}` : image.lastLine;
  const pulling: EtcdJudgement = { kind: "busy", why: `etcd is Preparing: ${pull}`, code: "SLU-T218" };
  if (hasData) return image.isPulled ? busy : pulling;
  const isWaiting = isOfBoot(seen);
  if (isWaiting && seen.requests === 0) return { kind: "none" };
  if (!image.isPulled) return pulling;
  return seen.quietSeconds < (isWaiting ? quietSeconds : stuckSeconds) ? busy : { kind: "none" };
}

/**
 * Whether this etcd is started by the boot, and not by a bootstrap: at boot Talos starts it together with the service that runs containers, and refuses a
 * bootstrap until that service is healthy. Both times are from the node's clock.
 */
function isOfBoot({ etcd, cri }: EtcdObservation): boolean {
  const [first] = completely(etcd?.events) ?? [];
  const healthy = completely(cri?.events)?.find(({ message }) => message === words.healthy);
  return first !== undefined && healthy !== undefined && first.atMs < healthy.atMs;
}

function completely(events: readonly ServiceEvent[] | undefined): readonly ServiceEvent[] | undefined {
  return events === undefined || events.length >= eventsKept ? undefined : events;
}

/** The next step of a bootstrap. */
export type BootstrapStep =
  | { readonly kind: "done"; readonly node: string; readonly why: string }
  | { readonly kind: "wait" | "fail"; readonly node: string; readonly why: string; readonly code: FailureCode }
  /** On the first control plane. */
  | { readonly kind: "call"; readonly failed?: string }
  | { readonly kind: "reboot"; readonly node: string; readonly why: string };

/** The step that the state of all control planes allows. */
export function nextStep(nodes: readonly { readonly name: string; readonly etcd: EtcdJudgement }[]): BootstrapStep {
  const of = <K extends EtcdJudgement["kind"]>(kind: K) =>
    nodes.flatMap(({ name: node, etcd }) =>
      etcd.kind === kind ? [{ ...(etcd as Extract<EtcdJudgement, { readonly kind: K }>), node }] : [],
    );
  const [healthy] = of("healthy");
  if (healthy !== undefined) return { ...healthy, kind: "done" };
  const [busy] = of("busy");
  if (busy !== undefined) return { ...busy, kind: "wait" };
  const [unknown] = of("unknown");
  const stopped = of("stopped");
  const [only] = stopped;
  if (only !== undefined) {
    if (stopped.length > 1) {
      const all = stopped.map(({ node, why }) => `${node}: ${why}`).join("; ");
      return { kind: "fail", node: only.node, why: `more than one etcd was stopped: ${all}`, code: "SLU-T219" };
    }
    if (unknown === undefined) return { ...only, kind: "reboot" };
    const why = `${only.why}; not rebooted while another etcd may run: ${unknown.node}: ${unknown.why}`;
    return { kind: "wait", node: only.node, why, code: "SLU-T219" };
  }
  // A second bootstrap would create a second cluster, so it must be certain on every control plane that there is no etcd.
  if (unknown !== undefined) return { kind: "wait", node: unknown.node, why: unknown.why, code: "SLU-T204" };
  const failed = of("none").find(({ failed }) => failed !== undefined)?.failed;
  return failed === undefined ? { kind: "call" } : { kind: "call", failed };
}
