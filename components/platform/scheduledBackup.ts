import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { S3Credentials } from "../api/s3Api.ts";
import { archive, archiveFile, startFile, startScript } from "../backup/inCluster/bundle.ts";
import { type InClusterPlan, inClusterFiles } from "../backup/inCluster/plan.ts";
import { backupRole, backupName as name, backupNamespace as namespace } from "../backup/inClusterNames.ts";
import { repeatableFile } from "../backup/repeatableFile.ts";
import { sha256 } from "../model/contentHash.ts";

export interface ScheduledBackupArgs {
  /** Cron expression, in UTC. */
  readonly schedule: string;
  readonly image: string;
  readonly plan: pulumi.Input<InClusterPlan>;
  /** As Talos' secrets.yaml. Secret; only encrypted for the plan's recipients it reaches the cluster. */
  readonly machineSecrets: pulumi.Input<string>;
  /** Secret. */
  readonly credentials: pulumi.Input<S3Credentials>;
}

/** Seconds in which a backup has to be taken and stored. */
const deadlineSeconds = 3_600;

/** A CronJob that takes backups from inside the cluster, on a control plane, with a certificate of Talos' API that may take etcd snapshots and nothing else. */
export class ScheduledBackup extends pulumi.ComponentResource {
  constructor(resource: string, args: ScheduledBackupArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:ScheduledBackup", resource, {}, opts);
    const { core, apiextensions } = kubernetes;
    const parent = { parent: this };
    const space = new core.v1.Namespace(
      `${resource}-namespace`,
      { metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
      parent,
    );
    const inside = { parent: this, dependsOn: [space] };
    const metadata = { name, namespace };
    // Talos answers it with a Secret of the same name.
    const account = new apiextensions.CustomResource(
      `${resource}-talos-account`,
      { apiVersion: "talos.dev/v1alpha1", kind: "ServiceAccount", metadata, spec: { roles: [backupRole] } },
      inside,
    );
    const credentials = new core.v1.Secret(
      `${resource}-credentials`,
      { metadata: { name: `${name}-s3`, namespace }, stringData: pulumi.secret(args.credentials) as never },
      inside,
    );
    const data = pulumi
      .output(args.plan)
      .apply((plan) => ({ "plan.json": JSON.stringify(plan), [startFile]: startScript() }));
    const binaryData = pulumi.all([args.plan, args.machineSecrets]).apply(async ([{ recipients }, secrets]) => ({
      [archiveFile]: archive().toString("base64"),
      "secrets.yaml.age": (await repeatableFile(secrets, recipients)).toString("base64"),
    }));
    const program = new core.v1.ConfigMap(
      `${resource}-program`,
      // Encrypted as it is, it is no secret.
      { metadata, data, binaryData: pulumi.unsecret(binaryData) },
      inside,
    );
    new kubernetes.batch.v1.CronJob(
      `${resource}-job`,
      { metadata, spec: cronJob(args) },
      { parent: this, dependsOn: [account, credentials, program] },
    );
    this.registerOutputs();
  }
}

/** What changes when the next backup is taken in another way. */
export function scheduledTriggers({
  schedule,
  image,
}: Pick<ScheduledBackupArgs, "schedule" | "image">): readonly string[] {
  return [schedule, image, sha256(archive().toString("base64"))];
}

function cronJob({ schedule, image }: ScheduledBackupArgs): kubernetes.types.input.batch.v1.CronJobSpec {
  const folder = inClusterFiles.plan.replace(/\/[^/]*$/, "");
  const secretKey = (key: keyof S3Credentials) => ({ secretKeyRef: { name: `${name}-s3`, key } });
  return {
    schedule,
    timeZone: "Etc/UTC",
    concurrencyPolicy: "Forbid",
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 3,
    jobTemplate: {
      spec: {
        backoffLimit: 2,
        activeDeadlineSeconds: deadlineSeconds,
        template: {
          metadata: { labels: { "app.kubernetes.io/name": name } },
          spec: {
            restartPolicy: "Never",
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
            tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" }],
            securityContext: {
              ...{ runAsNonRoot: true, runAsUser: 65_534, runAsGroup: 65_534, fsGroup: 65_534 },
              seccompProfile: { type: "RuntimeDefault" },
            },
            containers: [
              {
                name: "backup",
                image,
                command: ["node", `${folder}/${startFile}`],
                env: [
                  { name: "HOST_IP", valueFrom: { fieldRef: { fieldPath: "status.hostIP" } } },
                  { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
                  { name: "S3_ACCESS_KEY", valueFrom: secretKey("accessKey") },
                  { name: "S3_SECRET_KEY", valueFrom: secretKey("secretKey") },
                ],
                volumeMounts: [
                  { name: "program", mountPath: folder, readOnly: true },
                  { name: "talos", mountPath: inClusterFiles.talosconfig.replace(/\/[^/]*$/, ""), readOnly: true },
                  { name: "temporary", mountPath: inClusterFiles.temporary },
                ],
                resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
                // The last lines of the log become part of the pod's status, which the gate reports.
                terminationMessagePolicy: "FallbackToLogsOnError",
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ["ALL"] },
                },
              },
            ],
            volumes: [
              { name: "program", configMap: { name } },
              { name: "talos", secret: { secretName: name } },
              { name: "temporary", emptyDir: {} },
            ],
          },
        },
      },
    },
  };
}
