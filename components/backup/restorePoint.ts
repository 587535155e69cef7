// The backup from which a cluster is restored: found, downloaded, and verified before anything of it is sent to a node.
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { SluiceError } from "../errors/sluiceError.ts";
import type { Beginning } from "../talos/nodes/bootstrapRun.ts";
import type { Clock } from "../waiting/clock.ts";
import { FolderTarget } from "./folderTarget.ts";
import { readIdentitiesFrom } from "./identityVariable.ts";
import { type BackupManifest, isPath, manifestFile, secretsFile, snapshotFile } from "./manifest.ts";
import { openTarget, type TargetPlace } from "./openTarget.ts";
import { manifestOf, openSnapshot, resolveName, verifyBackup } from "./readBackup.ts";
import { type RestoringCluster, refusalOf } from "./restoreJudgement.ts";
import { inMegabytes } from "./takeBackup.ts";
import type { BackupTarget } from "./target.ts";

/** What is restored, and into what. Kept as a secret. */
export interface RestorePlan {
  /** `latest`, a backup's name, or the path of its folder. */
  readonly from: string;
  /** Undefined if the environment has no target. */
  readonly place?: TargetPlace | undefined;
  readonly cluster: RestoringCluster;
}

/** A backup that was chosen. */
export interface ChosenBackup {
  readonly target: BackupTarget;
  readonly name: string;
  readonly manifest: BackupManifest;
}

/** Reads its manifest, and nothing else. Rejects if there is none, or if it does not fit the cluster. */
export async function chooseBackup({ from, place, cluster }: RestorePlan, clock: Clock): Promise<ChosenBackup> {
  const target = isPath(from) ? new FolderTarget(dirname(resolve(from))) : place && openTarget(place, clock);
  if (target === undefined) throw new Error("there is no target"); // a rule has checked it
  const name = isPath(from) ? basename(resolve(from)) : await resolveName(target, from);
  const manifest = await manifestOf(target, name);
  const refusal = refusalOf(name, manifest, cluster);
  if (refusal !== undefined) throw refusal;
  return { target, name, manifest };
}

/** The age identities of the caller. Rejects if there are none. */
export async function neededIdentities(env: NodeJS.ProcessEnv = process.env): Promise<readonly string[]> {
  const identities = await readIdentitiesFrom(env);
  if (identities !== undefined) return identities;
  throw new SluiceError({ code: "SLU-B104", seen: "neither SLUICE_AGE_IDENTITY_FILE nor SLUICE_AGE_IDENTITY is set" });
}

/** A backup as what etcd begins with. Only encrypted files reach the disk. */
export class RestorePoint implements Beginning {
  title = "the snapshot";
  private readonly plan: RestorePlan;
  private readonly clock: Clock;
  private readonly report: (text: string) => void;
  private folder: string | undefined;
  private ready: (ChosenBackup & { readonly identities: readonly string[] }) | undefined;

  constructor(
    plan: RestorePlan,
    { clock, report }: { readonly clock: Clock; readonly report: (text: string) => void },
  ) {
    this.plan = plan;
    this.clock = clock;
    this.report = report;
  }

  /** What was restored, once it was prepared. */
  get backup(): ChosenBackup | undefined {
    return this.ready;
  }

  async prepare(): Promise<{ readonly bytes: number }> {
    this.ready ??= await this.fetch();
    return { bytes: this.ready.manifest.etcd.size };
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.ready === undefined) throw new Error("nothing was prepared");
    const { target, name, manifest, identities } = this.ready;
    yield* openSnapshot(target, name, manifest, identities);
  }

  /** Removes what was downloaded. */
  async dispose(): Promise<void> {
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }

  private async fetch() {
    const identities = await neededIdentities();
    const { target, name, manifest } = await chooseBackup(this.plan, this.clock);
    this.folder ??= await mkdtemp(join(tmpdir(), "sluice-restore-"));
    const copy = new FolderTarget(this.folder);
    await mkdir(join(this.folder, name), { recursive: true, mode: 0o700 });
    for (const file of [manifestFile, secretsFile, snapshotFile]) {
      const onProgress = (bytes: number) =>
        this.report(`downloads the backup ${name} of ${target.title}: ${inMegabytes(bytes)}`);
      await copyTo(join(this.folder, name, file), target.read(name, file), onProgress);
    }
    this.report(`verifies the backup ${name}`);
    await verifyBackup(copy, name, identities);
    this.title = `the snapshot of the backup ${name} (${inMegabytes(manifest.etcd.size)})`;
    return { target: copy, name, manifest, identities };
  }
}

async function copyTo(path: string, chunks: AsyncIterable<Uint8Array>, onProgress: (bytes: number) => void) {
  const file = await open(path, "w", 0o600);
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      await file.write(chunk);
      bytes += chunk.length;
      onProgress(bytes);
    }
  } finally {
    await file.close();
  }
}
