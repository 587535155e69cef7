import { isX25519 } from "../../components/backup/ageFile.ts";
import { isBackupName, isPath } from "../../components/backup/manifest.ts";
import { longestPauseMs, readCron } from "../../components/model/cron.ts";
import { rule } from "./rule.ts";

const hourMs = 3_600_000;

const credentials = ["backupS3AccessKey", "backupS3SecretKey"] as const;

/** S7.3: a backup that nobody can decrypt, or that the cluster cannot store, is none. */
export const backups = rule(["backup", "ageRecipients", ...credentials], function* (config) {
  const { backup, ageRecipients } = config;
  const { folder, s3, schedule } = backup;
  const hasTarget = folder !== undefined || s3 !== undefined;
  if (folder !== undefined && s3 !== undefined) {
    yield {
      path: "backup.folder",
      message: "is set, and so is backup.s3: backups are stored in one place, so remove one",
    };
  }
  if (hasTarget && ageRecipients.length === 0) {
    const make = "'age-keygen -o key.txt' makes a pair, whose public key goes here";
    yield { path: "ageRecipients", message: `is missing, but backup has a target, and backups are encrypted: ${make}` };
  }
  for (const key of credentials) {
    const isSet = config[key] !== undefined;
    if (isSet && s3 === undefined) yield { path: key, message: "is set, but would not be used: it is for backup.s3" };
    if (!isSet && s3 !== undefined && schedule !== undefined) {
      yield { path: key, message: "is missing, but backup.schedule is set: the cluster needs it to store backups" };
    }
  }
  if (schedule === undefined) return;
  const cron = readCron(schedule);
  const pauseMs = cron && longestPauseMs(cron, new Date(0));
  if (backup.maxAgeHours !== undefined && pauseMs !== undefined && pauseMs > backup.maxAgeHours * hourMs) {
    yield {
      path: "backup.maxAgeHours",
      message: `is ${backup.maxAgeHours}, but '${schedule}' can take ${Math.ceil(pauseMs / hourMs)} hours until the next backup: the newest would count as drift before that`,
    };
  }
  if (cron === undefined) {
    const form = "minute, hour, day of the month, month and day of the week, such as '0 */6 * * *'";
    yield { path: "backup.schedule", message: `'${schedule}' is no cron expression: ${form}` };
  }
  for (const [place, recipient] of ageRecipients.entries()) {
    if (isX25519(recipient)) continue;
    const message =
      "is of a kind for which the cluster itself cannot encrypt: use one as 'age-keygen' makes it, or no backup.schedule";
    yield { path: `ageRecipients[${place}]`, message };
  }
  if (s3 === undefined) {
    const why =
      folder === undefined ? "no target is set" : "the cluster cannot store anything in a folder of this host";
    yield { path: "backup.schedule", message: `needs backup.s3: ${why}` };
  }
});

/** S7.4: what cannot be found is reported before anything is created. */
export const restoring = rule(["restoreFrom", "backup"], function* ({ restoreFrom, backup: { folder, s3 } }) {
  if (restoreFrom === undefined || isPath(restoreFrom)) return;
  if (folder === undefined && s3 === undefined) {
    const path = "the path of a backup's folder, such as ./2026-11-20T05-12-33Z";
    yield { path: "restoreFrom", message: `names a backup of a target, but backup has none: set it, or ${path}` };
  } else if (restoreFrom !== "latest" && !isBackupName(restoreFrom)) {
    const message = `'${restoreFrom}' is no name of a backup: use one that 'npm run backup -- list <environment>' prints, or 'latest'`;
    yield { path: "restoreFrom", message };
  }
});
