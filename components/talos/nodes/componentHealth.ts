// Waits until one control plane serves with its new settings before the next is changed: at most one API server is down (S5.4).
import { SluiceError } from "../../errors/sluiceError.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import type { Delays } from "../../waiting/rounds.ts";
import {
  areRewritten,
  type ComponentFault,
  type Components,
  changeFault,
  readComponents,
  servingFault,
} from "../access/controlPlaneComponents.ts";
import { type NodeClient, type NodeContext, using } from "../access/nodeAccess.ts";
import { classify } from "../client/classify.ts";
import { isUnanswered } from "../client/nodeState.ts";
import type { ComponentEffect } from "../config/componentChanges.ts";

const delays: Delays = { firstMs: 250, factor: 1.5, mostMs: 1_000 };
/** Seconds for which Talos must have written nothing new: its controllers process a config one after the other. */
const quietSeconds = 2;
/** The same if Talos is known to write manifests, and has not done so yet. */
const unwrittenSeconds = 15;

export interface ComponentWait {
  readonly open: () => NodeClient;
  /** Deadline, by the clock. */
  readonly until: number;
}

/** Resolves when every component runs healthily with what Talos has written for it since `before`. */
export async function componentsFollow(
  { before, effect }: { readonly before: Components; readonly effect: ComponentEffect },
  wait: ComponentWait,
  context: NodeContext,
): Promise<void> {
  const { clock } = context;
  context.report("waits until the control plane's components run with the new settings");
  let [written, since] = [before, clock.now()];
  await waitFor(wait, context, (now) => {
    if (areRewritten(written, now)) [written, since] = [now, clock.now()];
    const isExpected = effect === "restart" && !areRewritten(before, now);
    const isQuiet = clock.now() - since >= (isExpected ? unwrittenSeconds : quietSeconds) * 1000;
    return changeFault(before, now) ?? (isQuiet ? undefined : unsettled);
  });
}

const unsettled: ComponentFault = { seen: "Talos may still change what it runs", isPermanent: false };

/** Resolves when the components of a control plane run healthily. */
export async function componentsServe(wait: ComponentWait, context: NodeContext): Promise<void> {
  await waitFor(wait, context, servingFault);
}

async function waitFor(
  { open, until }: ComponentWait,
  context: NodeContext,
  judge: (now: Components) => ComponentFault | undefined,
): Promise<void> {
  const look = async (): Promise<Polled<true>> => {
    const fault = await using(open(), readComponents).then(judge, unseen);
    if (fault === undefined) return { found: true };
    context.report(fault.seen);
    const late = new SluiceError({ code: "SLU-T216", seen: fault.seen });
    if (fault.isPermanent) throw late;
    return { late };
  };
  await poll(look, { ...context, until: () => until, delays });
}

/** If the node does not answer for a moment, it is asked again. */
function unseen(error: unknown): ComponentFault {
  if (!isUnanswered(error)) throw error;
  return { seen: `the node does not answer: ${classify(error).seen}`, isPermanent: false };
}
