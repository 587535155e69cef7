// How the backups of an environment are taken.
import * as pulumi from "@pulumi/pulumi";
import type { S3Credentials } from "../components/api/s3Api.ts";
import type { BackupPolicy } from "../components/backup/backupFirst.ts";
import type { InClusterPlan } from "../components/backup/inCluster/plan.ts";
import { LatestBackup } from "../components/backup/latestBackup.ts";
import type { TargetPlace } from "../components/backup/openTarget.ts";
import { withoutAnyMarks } from "../components/engine/withoutMarks.ts";
import { longestPauseMs, readCron } from "../components/model/cron.ts";
import { ScheduledBackup } from "../components/platform/scheduledBackup.ts";
import { bundleText, clusterIdentifier, fromPlugin, isBundle } from "../components/talos/secrets/secretsBundle.ts";
import type { After } from "./gateChain.ts";
import { hasBackups } from "./parts/clusterParts.ts";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import type { Installer } from "./softwareStages.ts";
import type { ClusterSecrets } from "./talosStages.ts";

type MachineSecretsOutput = Pick<ClusterSecrets, "machineSecrets">;

/** Undefined if the environment has no target for backups. Secret. */
export function backupPolicy(
  config: ClusterConfig,
  { machineSecrets }: MachineSecretsOutput,
): pulumi.Output<BackupPolicy> | undefined {
  if (!hasBackups(config)) return undefined;
  const { clusterName, talosVersion, kubernetesVersion, ageRecipients, backup } = config;
  const { keep } = backup;
  const place = backupPlace(config);
  return pulumi.secret(
    pulumi.output(machineSecrets).apply((plugin): BackupPolicy => {
      const bundle = fromPlugin(withoutAnyMarks(plugin));
      if (!isBundle(bundle)) throw new Error("the machine secrets are incomplete"); // the plugin has made or imported them
      return {
        place,
        recipients: ageRecipients,
        keep,
        cluster: { name: clusterName, id: clusterIdentifier(bundle), talosVersion, kubernetesVersion },
        machineSecrets: bundleText(bundle),
      };
    }),
  );
}

/** The same for changes that put etcd at risk; undefined if the environment wants no backup before them. */
export function backupBeforeChanges(
  config: ClusterConfig,
  secrets: MachineSecretsOutput,
): pulumi.Output<BackupPolicy> | undefined {
  return config.backup.beforeChanges ? backupPolicy(config, secrets) : undefined;
}

/** After everything else: the first backup, and the CronJob that takes the others. Returns what the gate waits for. */
export function takeBackups(
  install: Installer,
  { machines }: PlatformMachines,
  secrets: Pick<ClusterSecrets, "credentials" | "machineSecrets">,
  after: After,
): After {
  const { config, named, behind, deletedWith } = install;
  const backup = backupPolicy(config, secrets);
  if (backup === undefined) return after;
  const { credentials } = secrets;
  const args = { machines, credentials, backup, maxAgeHours: maxAgeHours(config) };
  const latest = new LatestBackup(config.clusterName, args, { dependsOn: [...after], deletedWith });
  const { schedule, image } = config.backup;
  if (schedule === undefined) return [latest];
  const plan = pulumi.unsecret(backup.apply((policy) => inClusterPlan(config, policy)));
  const scheduled = new ScheduledBackup(
    named("scheduled-backup"),
    {
      ...{ schedule, image, plan },
      machineSecrets: backup.apply(({ machineSecrets }) => machineSecrets),
      credentials: backup.apply(({ place: { credentials: known } }) => known as S3Credentials),
    },
    behind(after),
  );
  return [latest, scheduled];
}

/** A pod knows the nodes as the environment lists them. */
function inClusterPlan({ nodes, talosVersion }: ClusterConfig, policy: BackupPolicy): InClusterPlan {
  const { place, recipients, keep, cluster } = policy;
  const { s3, clusterName } = place;
  if (s3 === undefined) throw new Error("there is no object store"); // a rule has checked it
  const { prefix, ...bucket } = s3;
  const listed = nodes.map(({ name, role, address }) => ({ name, role, address, talosVersion }));
  return { s3: bucket, prefix: `${prefix}/${clusterName}`, recipients, keep, cluster: { ...cluster, nodes: listed } };
}

/** Where they are stored, with the credentials that the environment has. */
export function backupPlace(config: ClusterConfig): TargetPlace {
  const { clusterName, backup, backupS3AccessKey: accessKey, backupS3SecretKey: secretKey } = config;
  const { folder, s3 } = backup;
  const credentials = { ...(accessKey !== undefined && { accessKey }), ...(secretKey !== undefined && { secretKey }) };
  return { clusterName, ...(folder !== undefined && { folder }), ...(s3 !== undefined && { s3 }), credentials };
}

/** Without a schedule someone takes them by hand. */
const maxAgeOfRequestedHours = 168;

/** From which age on the newest backup counts as drift. */
export function maxAgeHours({ backup: { maxAgeHours: set, schedule } }: Pick<ClusterConfig, "backup">): number {
  const cron = schedule === undefined ? undefined : readCron(schedule);
  const pause = cron && longestPauseMs(cron, new Date());
  return set ?? (pause === undefined ? maxAgeOfRequestedHours : Math.ceil((2 * pause) / 3_600_000));
}
