// The operations of a LatestBackup.
import { isDeepStrictEqual } from "node:util";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { isUnknown } from "../engine/isUnknown.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { reasonOf } from "../errors/reasonOf.ts";
import { type NodeResourceContext, nodeContext } from "../talos/access/nodeAccess.ts";
import { resultWithin } from "../waiting/deadline.ts";
import { takeFrom } from "./backupFirst.ts";
import type { AskedNode } from "./clusterRecord.ts";
import type { LatestBackupArgs } from "./latestBackup.ts";
import { openTarget } from "./openTarget.ts";
import { completeNames, manifestOf } from "./readBackup.ts";

export type LatestBackupInputs = ResourceInputs<
  Omit<LatestBackupArgs, "machines"> & { readonly nodes: readonly AskedNode[] }
>;

export interface LatestBackupState extends LatestBackupInputs {
  /** Why another backup has to be taken, as a refresh found. */
  readonly stale?: string | undefined;
}

/** Seconds for a refresh. */
const readSeconds = 8;

export const operations = {
  id: () => "latest-backup",

  async create(inputs, context) {
    const why = await staleness(inputs, context);
    if (why === undefined) return inputs;
    context.report(`takes a backup: ${why}`);
    const { backup, credentials, nodes } = inputs;
    await takeFrom(backup, { nodes, credentials }, `because ${why}`, context);
    return inputs;
  },

  /** What the state has besides, such as versions, is only recorded: the next backup has it. */
  difference(olds, news) {
    if (olds.stale !== undefined) return { kind: "update" };
    if (isUnknown(news.backup) || isUnknown(news.nodes)) return { kind: "record" };
    const matters = ({ backup: { place, recipients, cluster } }: LatestBackupInputs) => [place, recipients, cluster.id];
    if (!isDeepStrictEqual(matters(olds), matters(news))) return { kind: "update" };
    const { stale: _, ...rest } = olds;
    const { maxAgeHours, nodes, credentials, backup } = news;
    const isSame = isDeepStrictEqual(
      [rest.maxAgeHours, rest.nodes, rest.credentials, rest.backup],
      [maxAgeHours, nodes, credentials, backup],
    );
    return { kind: isSame ? "none" : "record" };
  },

  notes: ({ stale }) => (stale === undefined ? [] : [{ text: `a backup is taken: ${stale}`, as: "info" }]),

  /** Never throws: a target that does not answer is reported by the gate. */
  async read(state, context) {
    const { stale: _, ...inputs } = state;
    const found = await resultWithin(context.clock, readSeconds * 1000, settled(staleness(inputs, context)));
    return found?.value === undefined ? inputs : { ...inputs, stale: found.value };
  },

  outcome: () => "there is a recent one",
} satisfies ResourceOperations<LatestBackupInputs, LatestBackupState, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<
  LatestBackupInputs,
  LatestBackupState,
  NodeResourceContext
>(operations, nodeContext);

/** Undefined if the newest backup is recent, of this cluster, and for the current keys. */
async function staleness(
  { backup: { place, recipients, cluster }, maxAgeHours }: LatestBackupInputs,
  { clock }: NodeResourceContext,
): Promise<string | undefined> {
  const target = openTarget(place, clock);
  if (target === undefined) throw new Error("there is no target"); // a rule has checked it
  const [name] = await completeNames(target);
  if (name === undefined) return "there is none yet";
  const manifest = await manifestOf(target, name).catch(reasonOf);
  if (typeof manifest === "string") return `the newest cannot be read: ${manifest}`;
  if (manifest.cluster.id !== cluster.id) return "the newest is of another cluster";
  if (!isDeepStrictEqual(manifest.recipients.toSorted(), recipients.toSorted())) return "ageRecipients has changed";
  const isOld = Date.now() - Date.parse(manifest.takenAt) > maxAgeHours * 3_600_000;
  return isOld ? `the newest is older than ${maxAgeHours} hours` : undefined;
}

/** Distinguishes an answer from none. */
async function settled<T>(work: Promise<T>): Promise<{ readonly value: T }> {
  return { value: await work };
}
