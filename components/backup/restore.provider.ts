// The operations of a Restore.
import { isDeepStrictEqual } from "node:util";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { isUnknown } from "../engine/isUnknown.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import { type NodeResourceContext, nodeContext } from "../talos/access/nodeAccess.ts";
import { lookAtEtcd } from "../talos/etcd/etcdPresence.ts";
import { bootstrap } from "../talos/nodes/bootstrapRun.ts";
import { resultWithin } from "../waiting/deadline.ts";
import { isPath } from "./manifest.ts";
import { openTarget } from "./openTarget.ts";
import { completeNames } from "./readBackup.ts";
import type { RestoreArgs, RestoredFrom } from "./restore.ts";
import { RestorePoint } from "./restorePoint.ts";

export type RestoreInputs = ResourceInputs<RestoreArgs>;

export interface RestoreState extends RestoreInputs {
  /** Undefined if etcd existed. */
  readonly restored?: RestoredFrom | undefined;
  /** A later observation found no etcd on any control plane. */
  readonly isGone?: true | undefined;
}

/** Seconds for which a cluster that had an etcd must be without one: members that reboot are for a while as if they never were. */
const lostAfterSeconds = 30;
/** Seconds for all that a refresh asks. */
const readDeadlineSeconds = 5;

export const operations = {
  id: () => "restore",

  create: (inputs, context) => restore(inputs, context),

  async update(olds, news, context) {
    const leaving = olds.controlPlanes.filter((was) => !news.controlPlanes.some(({ name }) => name === was.name));
    const all = { ...news, controlPlanes: [...news.controlPlanes, ...leaving] };
    const { restored } = await restore(all, context, olds);
    return { ...news, restored: restored ?? olds.restored };
  },

  difference(olds, news) {
    const from = ({ plan }: RestoreInputs) => (isUnknown(plan) ? undefined : plan.from);
    const matters = (inputs: RestoreInputs) => [inputs.controlPlanes, inputs.credentials, from(inputs)];
    const hasRejoined = !isUnknown(news.rejoined) && (olds.rejoined ?? 0) !== (news.rejoined ?? 0);
    if (olds.isGone || hasRejoined || !isDeepStrictEqual(matters(olds), matters(news))) return { kind: "update" };
    return { kind: isDeepStrictEqual(olds.plan, news.plan) ? "none" : "record" };
  },

  notes(olds, news) {
    if (operations.difference(olds, news).kind !== "update" || isUnknown(news.plan)) return [];
    const text = `if no control plane has an etcd, the cluster is restored from ${backupWords(news.plan.from)}; otherwise nothing is done`;
    return [{ text, as: olds.isGone ? "info" : "row" }];
  },

  /** Has a time limit, and never throws. etcd is gone only if every control plane reports that it has none. */
  async read({ isGone: _, ...state }, context) {
    const looks = state.controlPlanes.map((node) => lookAtEtcd(node, state.credentials, context));
    const seen = await resultWithin(context.clock, readDeadlineSeconds * 1000, Promise.all(looks));
    return seen?.every(({ kind }) => kind === "none") ? { ...state, isGone: true } : state;
  },

  outcome: ({ restored }) => (restored === undefined ? "etcd exists" : `etcd runs, restored from ${restored.name}`),
} satisfies ResourceOperations<RestoreInputs, RestoreState, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<RestoreInputs, RestoreState, NodeResourceContext>(
  operations,
  nodeContext,
);

/** `olds` where etcd existed before. */
async function restore(
  inputs: RestoreInputs,
  context: NodeResourceContext,
  olds?: RestoreState,
): Promise<RestoreState> {
  const { plan } = inputs;
  const point = new RestorePoint(plan, context);
  const beginning = {
    get title() {
      return point.title;
    },
    prepare: async () => {
      await refuseOlder(plan, context, olds);
      return await point.prepare();
    },
    chunks: () => point.chunks(),
  };
  try {
    const options = { beginning, ...(olds !== undefined && { lostAfterSeconds }) };
    const calls = await bootstrap(inputs, context, options);
    const { backup } = point;
    if (calls === 0 || backup === undefined) {
      await context.note(`restoreFrom has no effect: the cluster has an etcd, and its data stay`, "info");
      return inputs;
    }
    const { name, manifest } = backup;
    const { takenAt, etcd } = manifest;
    const facts = `taken at ${takenAt}, revision ${etcd.revision}, ${etcd.records} records`;
    await context.note(`etcd was restored from the backup ${name}: ${facts}. What was written later is lost`, "info");
    return { ...inputs, restored: { name, takenAt, revision: etcd.revision } };
  } finally {
    await point.dispose();
  }
}

/** A name that was restored once is no consent to lose what was backed up since. */
async function refuseOlder(
  { from, place }: RestoreInputs["plan"],
  { clock }: NodeResourceContext,
  olds: RestoreState | undefined,
): Promise<void> {
  if (from === "latest" || isPath(from) || olds?.plan.from !== from || olds.restored?.name !== from) return;
  const target = place && openTarget(place, clock);
  const [newest] = target === undefined ? [] : await completeNames(target);
  if (newest === undefined || newest <= from) return;
  const seen = `the cluster was restored from ${from} before, and is lost again; since then backups were taken, the newest is ${newest}`;
  throw new SluiceError({ code: "SLU-B110", where: from, seen });
}

/** "the newest backup", "the backup 2026-11-20T05-12-33Z" */
export function backupWords(from: string): string {
  if (from === "latest") return "the newest backup";
  return isPath(from) ? `the backup in ${from}` : `the backup ${from}`;
}
