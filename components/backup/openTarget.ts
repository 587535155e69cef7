import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { S3Bucket, type S3Credentials } from "../api/s3Api.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import type { BackupSettings } from "../model/settings/backup.ts";
import type { Clock } from "../waiting/clock.ts";
import { FolderTarget } from "./folderTarget.ts";
import { S3Target } from "./s3Target.ts";
import type { BackupTarget } from "./target.ts";

/** Where the backups of a cluster are. */
export interface TargetPlace extends Pick<BackupSettings, "folder" | "s3"> {
  readonly clusterName: string;
  /** From the environment's file; what is missing is read from AWS' own variables. Secret. */
  readonly credentials: Partial<S3Credentials>;
}

/** Undefined if the environment names no target. Calls nothing. */
export function openTarget(
  { folder, s3, clusterName, credentials }: TargetPlace,
  clock: Clock,
  env: NodeJS.ProcessEnv = process.env,
): BackupTarget | undefined {
  if (folder !== undefined) return new FolderTarget(join(absolute(folder), clusterName));
  if (s3 === undefined) return undefined;
  const { accessKey = env.AWS_ACCESS_KEY_ID, secretKey = env.AWS_SECRET_ACCESS_KEY } = credentials;
  if (!accessKey || !secretKey) {
    const seen =
      "there are no credentials: neither backupS3AccessKey and backupS3SecretKey nor AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set";
    throw new SluiceError({ code: "SLU-B102", where: `s3://${s3.bucket}`, seen });
  }
  return new S3Target(new S3Bucket(s3, { accessKey, secretKey }), `${s3.prefix}/${clusterName}`, clock);
}

/** Relative to the project, in which all commands run. */
function absolute(folder: string): string {
  return folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : resolve(folder);
}
