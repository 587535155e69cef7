// The operations of a gate: wait until it opens, and observe it once on refresh.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { hasUnknown } from "../engine/isUnknown.ts";
import { allRenamed, renamed } from "../engine/renamed.ts";
import type { ResourceContext } from "../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { reasonOf } from "../errors/reasonOf.ts";
import { systemClock } from "../waiting/clock.ts";
import type { GateSettings } from "../waiting/condition.ts";
import { describe, isUnseen } from "../waiting/history.ts";
import type { AnyGate, Evidence } from "./gateDefinition.ts";
import { observeProof, pass, type WaitContext, waitUntil } from "./gateWait.ts";
import { OpenGate } from "./openGate.ts";
import { openGates, proveAll } from "./openGates.ts";
import { findGate, isBelow } from "./registry.ts";

/** A gate's properties in the state. */
export interface GateProperties {
  readonly gate: string;
  /** What is observed and which values are expected, without the credentials. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly credentials: unknown;
  readonly settings: GateSettings;
  /** Versions and hashes of what the gate guards: when one changes, the gate runs again. */
  readonly triggers: readonly string[];
  /** The same for secrets: their hashes. */
  readonly secretTriggers?: readonly string[];
  /** The resource's own URN, by which it finds its row. */
  readonly row: string;
}

export interface GateState extends GateProperties {
  /** What was observed when the gate opened, or when it was last found open. */
  readonly evidence: Evidence;
  /** Seconds until it opened. */
  readonly waitedSeconds: number;
  /** Conditions that a later observation found to be no longer met. */
  readonly drift: readonly string[];
  /** Names this opening. Empty if an earlier version opened the gate: that was after its stability window. */
  readonly opening: string;
  /** The openings of gates below that were proven before this gate opened. */
  readonly proved: readonly string[];
}

/** Seconds for the one observation of a refresh, even if the cluster is unreachable. All gates are observed at the same time. */
const refreshSeconds = 8;
/** Seconds for which a condition must be unmet to count: a node that is being probed at that moment may still answer. */
const unmetSeconds = 2;
/** The least time for a trial, even if the gate's own wait has used up more of its deadline: creating a volume takes time. */
const leastTrialSeconds = 60;

export const operations = {
  id: ({ gate }) => gate,

  migrate({ inputs, settings, ...state }) {
    const { nodes, ...rest } = inputs as GateState["inputs"];
    return {
      ...{ opening: "", proved: [] },
      ...renamed(state, { waited: "waitedSeconds" }),
      inputs: nodes === undefined ? rest : { ...rest, nodes: nodesOf(nodes) },
      settings: renamed(settings, { deadline: "deadlineSeconds", stable: "stableSeconds" }),
    };
  },

  /** Waits, and throws when the gate does not open. */
  create: opened,

  update({ opening }, news, context) {
    openGates.forget(opening);
    return opened(news, context);
  },

  /** Renewed credentials are only recorded; any other change makes the gate wait again. */
  difference(olds, news) {
    if (reasonsToProveAgain(olds, news) !== undefined) return { kind: "update" };
    return { kind: isDeepStrictEqual(olds.credentials, news.credentials) ? "none" : "record" };
  },

  /** Drift that a refresh found is in no input, so the row shows it. */
  notes(olds, news) {
    const reasons = reasonsToProveAgain(olds, news);
    return reasons === undefined ? [] : [{ text: reasons, as: "row" }];
  },

  /** Observes once and never throws: a dead cluster must not block a refresh. */
  async read(state, { clock, note }) {
    const { drift, unknown, evidence, remarks } = await observeOnce(state, clock);
    if (drift.length > 0) await note(`conditions are no longer met: ${drift.join("; ")}`, "warning");
    if (unknown !== undefined) await note(`could not be observed${unknown}`, "warning");
    const news = Object.entries(evidence).filter(([key, seen]) => !isDeepStrictEqual(seen, state.evidence[key]));
    if (news.length > 0) await note(`is open; new evidence: ${JSON.stringify(Object.fromEntries(news))}`, "row");
    // In a refresh a warning means drift, or something that could not be observed. What the state already contains is neither.
    for (const remark of remarks) await note(remark, news.length > 0 ? "warning" : "info");
    return { ...state, evidence: { ...state.evidence, ...evidence }, drift };
  },

  outcome: ({ waitedSeconds }) => `open after ${waitedSeconds} s`,

  // It reports what it waited for, and on which node.
  endsWhenInterrupted: true,
} satisfies ResourceOperations<GateProperties, GateState, ResourceContext>;

const calls = engineCalls<GateProperties, GateState, ResourceContext>(operations, (context) => context);
export const { create, read, update, remove } = calls;

/** Takes note of each gate that the run leaves as it is: whether it is proven may only be known when a later gate runs. */
export const diff: typeof calls.diff = (id, olds, news) => {
  const { opening = "", proved = [] } = olds as Partial<GateState>;
  openGates.recordProof(proved);
  // With values that are not known yet it cannot be observed; it is compared again once they are.
  if (opening !== "" && !hasUnknown(news)) {
    const observe = () => {
      const gate = gateOf(news);
      return new OpenGate(gate.name, observeProof(gate, inputsOf(news), news.settings, systemClock));
    };
    openGates.record(opening, { name: news.gate, observe });
  }
  return calls.diff(id, olds, news);
};

/** The state of a gate once it is open; rejects when it does not open. */
async function opened(properties: GateProperties, context: ResourceContext): Promise<GateState> {
  const { remarks, seconds, ...state } = await open(properties, context);
  for (const remark of remarks) await context.note(remark, "warning");
  return { ...properties, ...state, waitedSeconds: Math.round(seconds * 10) / 10, drift: [] };
}

/** What is reported about a gate that opened. */
interface Opened extends Pick<GateState, "evidence" | "opening" | "proved"> {
  readonly remarks: readonly string[];
  readonly seconds: number;
}

/** The gate's own wait, then its trial in the remaining time, then the stability windows of the gates below. */
async function open(properties: GateProperties, context: WaitContext): Promise<Opened> {
  const { settings } = properties;
  const { clock, report, onWait } = context;
  const [gate, inputs] = [gateOf(properties), inputsOf(properties)];
  const below = openGates.unproven((name) => isBelow(name, gate.name));
  const own = await pass(gate, inputs, settings, context);
  const remarks = gate.remarks?.(own.observation, inputs) ?? [];
  const trial = gate.trial?.(inputs);
  const left = trial && { ...settings, deadlineSeconds: timeLeft(settings, own.seconds), stableSeconds: 0 };
  const tried = trial && left && (await pass(trial, inputs, left, context, own.seconds));
  const waits = [own, tried].flatMap((one) => one?.wait ?? []);
  const proofSeconds = await proveAll(below, report, () => clock.now());
  for (const [place, wait] of waits.entries()) {
    const isLast = place === waits.length - 1;
    const stableSeconds = wait.stableSeconds + (isLast ? proofSeconds : 0);
    onWait?.({ ...wait, stableSeconds, opened: isLast ? clock.now() : wait.opened });
  }
  const opening = randomUUID();
  openGates.add(opening, own.open);
  return {
    evidence: { ...own.evidence, ...tried?.evidence },
    remarks,
    seconds: own.seconds + (tried?.seconds ?? 0) + proofSeconds,
    opening,
    proved: [...below.keys()],
  };
}

/** For a trial. */
function timeLeft({ deadlineSeconds }: GateSettings, usedSeconds: number): number {
  return Math.max(deadlineSeconds - usedSeconds, Math.min(leastTrialSeconds, deadlineSeconds));
}

interface Observed extends Pick<Opened, "evidence" | "remarks"> {
  /** What is no longer met. */
  readonly drift: readonly string[];
  /** What could not be observed: this is no drift, and does not make the gate run again. */
  readonly unknown?: string;
}

/** New evidence of an open gate is no drift: it replaces the old one. */
async function observeOnce(state: GateState, clock: ResourceContext["clock"]): Promise<Observed> {
  const nothing = { drift: [], evidence: {}, remarks: [] };
  try {
    const [gate, inputs] = [gateOf(state), inputsOf(state)];
    const end = await waitUntil(
      gate,
      inputs,
      { deadlineSeconds: refreshSeconds, stableSeconds: 0, unmetSeconds },
      { clock },
    );
    if (end.kind === "opened") {
      const { observation } = end;
      return {
        drift: [],
        evidence: gate.evidence(observation, inputs),
        remarks: gate.remarks?.(observation, inputs) ?? [],
      };
    }
    if (!end.hasObserved) return { ...nothing, unknown: ` in ${refreshSeconds} s: nothing was observed` };
    const unknown = end.unmet.filter(isUnseen).map(describe).join("; ");
    const drift = end.unmet.filter((one) => !isUnseen(one)).map(describe);
    return { ...nothing, drift, ...(unknown !== "" && { unknown: ` in ${refreshSeconds} s: ${unknown}` }) };
  } catch (error) {
    return { ...nothing, unknown: `: ${reasonOf(error)}` };
  }
}

function reasonsToProveAgain(olds: GateState, news: GateProperties): string | undefined {
  if (olds.drift.length > 0) return `must run again: ${olds.drift.join("; ")}`;
  const parts = { gate: "gate", inputs: "inputs", triggers: "triggers", secretTriggers: "secrets" } as const;
  const changed = (Object.keys(parts) as (keyof typeof parts)[]).filter(
    (key) => !isDeepStrictEqual(olds[key], news[key]),
  );
  if (changed.length === 0) return undefined;
  const named = changed.map((key) => parts[key]).join(" and ");
  // In a preview the outputs of a resource that is updated are unknown, although they may stay the same.
  return changed.every((key) => hasUnknown(news[key]))
    ? `may have to run again: ${named} not known yet`
    : `must run again: ${named} changed`;
}

/** Some gates get only the nodes' names. */
function nodesOf(nodes: unknown): unknown {
  const areNames = Array.isArray(nodes) && nodes.every((node) => typeof node === "string");
  return areNames ? nodes : allRenamed(nodes, { endpoint: "talosAddress" });
}

function gateOf({ gate: name }: GateProperties): AnyGate {
  const gate = findGate(name);
  if (gate === undefined) throw new Error(`there is no gate ${name}`);
  return gate;
}

function inputsOf({ inputs, credentials }: GateProperties): object {
  return { ...inputs, credentials };
}
