// The operations of a ReplacementBackup.
import { isDeepStrictEqual } from "node:util";
import { backupFirst, backupNote } from "../backup/backupFirst.ts";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { isUnknown } from "../engine/isUnknown.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { type NodeResourceContext, nodeContext } from "../talos/access/nodeAccess.ts";
import type { ReplacementBackupArgs } from "./replacementBackup.ts";

export type ReplacementBackupInputs = ResourceInputs<ReplacementBackupArgs>;

export const operations = {
  id: () => "replacement-backup",

  create: async (inputs) => inputs,

  /** If all control planes were replaced, there is no etcd left to take a backup of. */
  async update(olds, news, context) {
    const replaced = replacedIn(olds, news);
    const others = news.controlPlanes.filter(({ name }) => !replaced.includes(name));
    if (replaced.length === 0 || others.length === 0) return news;
    const { backup, credentials } = news;
    const reason = `before another machine takes the place of ${replaced.join(", ")}`;
    await backupFirst(backup, { controlPlanes: others, credentials }, reason, context);
    return news;
  },

  difference(olds, news) {
    if (replacedIn(olds, news).length > 0) return { kind: "update" };
    return { kind: isDeepStrictEqual(olds.controlPlanes, news.controlPlanes) ? "none" : "record" };
  },

  notes(olds, news) {
    const replaced = replacedIn(olds, news);
    if (replaced.length === 0) return [];
    const text = `${replaced.join(", ")}: another machine joins in place of the one that was lost; ${backupNote(news.backup).text}`;
    return [{ text, as: "info" }];
  },
} satisfies ResourceOperations<ReplacementBackupInputs, ReplacementBackupInputs, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<
  ReplacementBackupInputs,
  ReplacementBackupInputs,
  NodeResourceContext
>(operations, nodeContext);

/** The control planes that have another machine than before. In a preview a new machine's id is unknown. */
function replacedIn(olds: ReplacementBackupInputs, news: ReplacementBackupInputs): readonly string[] {
  if (isUnknown(news.controlPlanes)) return [];
  const ids = new Map(olds.controlPlanes.map(({ name, machineId }) => [name, machineId]));
  return news.controlPlanes.flatMap(({ name, machineId }) => {
    const was = ids.get(name);
    return was !== undefined && was !== machineId ? [name] : [];
  });
}
