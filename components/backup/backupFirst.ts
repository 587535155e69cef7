// The backup that is taken before a change which puts etcd at risk.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Note } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import type { Peer } from "../model/peer.ts";
import type { NodeResourceContext } from "../talos/access/nodeAccess.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { type AskedNode, recordNodes } from "./clusterRecord.ts";
import type { ClusterRecord } from "./manifest.ts";
import { openTarget, type TargetPlace } from "./openTarget.ts";
import { snapshotSources } from "./snapshotSources.ts";
import { inMegabytes, takeBackup } from "./takeBackup.ts";

/** How backups of a cluster are taken. Kept as a secret. */
export interface BackupPolicy {
  readonly place: TargetPlace;
  /** Age public keys. */
  readonly recipients: readonly string[];
  readonly keep: number;
  readonly cluster: Omit<ClusterRecord, "nodes">;
  /** As Talos' secrets.yaml. */
  readonly machineSecrets: string;
}

/** The cluster as it is before the change. */
export interface ThreatenedCluster {
  /** Its control planes, those included that are about to leave. */
  readonly controlPlanes: readonly Peer[];
  readonly credentials: TalosCredentials;
}

/** Rejects with SLU-B107 if no backup could be taken: the change must not be made then. `reason` is in the manifest: "before cp-1 leaves the cluster". */
export async function backupFirst(
  policy: BackupPolicy,
  { controlPlanes, credentials }: ThreatenedCluster,
  reason: string,
  context: NodeResourceContext,
): Promise<void> {
  context.report("takes a backup first");
  try {
    const nodes = controlPlanes.map((peer): AskedNode => ({ ...peer, role: "controlplane" }));
    await takeFrom(policy, { nodes, credentials }, reason, context);
  } catch (error) {
    const why = error instanceof SluiceError ? error.message : String(error);
    throw new SluiceError({
      code: "SLU-B107",
      seen: `${why.replaceAll("\n", "; ")}. Nothing was changed`,
      cause: error,
    });
  }
}

/** Takes a backup from a running cluster, and says so among the diagnostics. */
export async function takeFrom(
  { place, cluster, machineSecrets, ...plan }: BackupPolicy,
  { nodes, credentials }: { readonly nodes: readonly AskedNode[]; readonly credentials: TalosCredentials },
  reason: string,
  context: NodeResourceContext,
): Promise<void> {
  const target = openTarget(place, context.clock);
  if (target === undefined) throw new Error("there is no target"); // a rule has checked it
  const temporary = await mkdtemp(join(tmpdir(), "sluice-backup-"));
  try {
    const controlPlanes = nodes.filter(({ role }) => role === "controlplane");
    const sources = await snapshotSources(controlPlanes, credentials, context);
    const recorded = await recordNodes(nodes, credentials, context);
    const content = { ...plan, cluster: { ...cluster, nodes: recorded }, secrets: { plain: machineSecrets }, reason };
    const { report } = context;
    const { name, manifest } = await takeBackup({ ...content, sources, target, temporary, now: Date.now, report });
    const { revision, size } = manifest.etcd;
    await context.note(
      `backup ${name} in ${target.title}, ${reason}: revision ${revision}, ${inMegabytes(size)}`,
      "info",
    );
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** What a preview says of a change that puts etcd at risk. */
export function backupNote(policy: unknown): Note {
  return policy === undefined
    ? {
        text: "no backup is taken before that: backup is not configured, or backup.beforeChanges is false",
        as: "warning",
      }
    : { text: "a backup is taken before that; if it fails, nothing is changed", as: "info" };
}
