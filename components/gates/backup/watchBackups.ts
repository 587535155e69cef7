// The observations of the gate BackupFresh: the newest backup in the target, and the CronJob that takes backups.
import { readIdentitiesFrom } from "../../backup/identityVariable.ts";
import { openTarget } from "../../backup/openTarget.ts";
import { completeNames, manifestOf, verifyBackup } from "../../backup/readBackup.ts";
import type { BackupTarget } from "../../backup/target.ts";
import { reasonOf } from "../../errors/reasonOf.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { observe } from "../../kubernetes/observe.ts";
import type { Clock } from "../../waiting/clock.ts";
import { mergeObservations, type Observer } from "../../waiting/mergeObservations.ts";
import { BackOff, every, rounds } from "../../waiting/rounds.ts";
import { backupPaths } from "./backupPaths.ts";
import type { BackupFreshInputs, BackupsObservation, CronJobKinds, NewestBackup } from "./backupViews.ts";

/** Milliseconds between two checks of the target. */
const checkIntervalMs = 5_000;
/** In bytes. A larger snapshot is not downloaded to be compared: its size is, and with `npm run backup -- verify` all of it. */
const mostDownloaded = 64 * 1024 * 1024;

export function watchBackups(
  { place, schedule, credentials }: BackupFreshInputs,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<BackupsObservation> {
  const { kubeconfig, ...s3 } = credentials;
  const target: Observer<BackupsObservation> = async (see) => {
    const identities = await readIdentitiesFrom(process.env);
    let known: NewestBackup | undefined;
    for await (const _ of rounds({ clock, backOff: new BackOff(every(checkIntervalMs)), signal })) {
      try {
        const opened = openTarget({ ...place, credentials: s3 }, clock);
        if (opened === undefined) throw new Error("there is no target"); // a rule has checked it
        const [name] = await completeNames(opened);
        if (name !== known?.name) known = name === undefined ? undefined : await newest(opened, name, identities);
        see({ target: { kind: "read", newest: known, nowMs: Date.now() } });
      } catch (error) {
        see({ target: { kind: "unread", why: reasonOf(error) } });
      }
    }
  };
  const job: Observer<BackupsObservation> = async (see) => {
    for await (const seen of observe<CronJobKinds>({ kubeconfig }, backupPaths, signal, clock)) see({ cluster: seen });
  };
  return mergeObservations<BackupsObservation>({}, schedule === undefined ? [target] : [target, job], signal);
}

/** A backup that cannot be read is one, too: it must be reported. */
async function newest(
  target: BackupTarget,
  name: string,
  identities: readonly string[] | undefined,
): Promise<NewestBackup> {
  try {
    const manifest = await manifestOf(target, name);
    const size = Object.values(manifest.files).reduce((sum, file) => sum + file.size, 0);
    if (size > mostDownloaded) return { name, manifest, proof: "listed" };
    const { isOpened } = await verifyBackup(target, name, identities);
    return { name, manifest, proof: isOpened ? "opened" : "compared" };
  } catch (error) {
    // The target did not answer: nothing is known of the backup.
    if (error instanceof SluiceError && error.code === "SLU-B102") throw error;
    return { name, damage: reasonOf(error) };
  }
}
