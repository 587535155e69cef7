// Backups of the cluster, and what it is restored from.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { origin } from "./scalars.ts";

const s3 = z
  .strictObject({
    endpoint: origin(["https", "http"], "https://<host>[:<port>]").meta({
      description: "Address of the object store.",
      example: "https://fsn1.your-objectstorage.com",
    }),
    bucket: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        "must be the name of a bucket: lower-case letters, digits, '.' and '-', 3 to 63",
      )
      .meta({ form: "bucket", description: "The bucket, which must exist.", example: "backups" }),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, "must be the name of a region such as eu-central-1")
      .default("us-east-1")
      .meta({ form: "region", description: "The region that requests are signed for. Many object stores accept any." }),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*(\/[\w.-]+)*$/, "must be a path such as talos/backups, without '/' at its ends")
      .default("sluice")
      .meta({ form: "path", description: "Where in the bucket. Each cluster has a folder with its name below it." }),
    pathStyle: z.boolean().default(true).meta({
      description:
        "Whether the bucket is in the path of a request, which every object store but AWS' newer regions accepts, or in its host name.",
    }),
  })
  .meta({ description: "A bucket of an object store that speaks S3." });

export const backup = z
  .strictObject({
    folder: z.string().min(1).optional().meta({
      form: "folder",
      description: "Keep backups in a folder of this host, each cluster in one with its name. Relative to the project.",
      example: "/srv/backups",
    }),
    s3: s3.optional(),
    schedule: z.string().min(1).optional().meta({
      form: "cron expression",
      fallback: "only on request, and before risky changes",
      description: "When the cluster takes backups by itself, in UTC. Needs `backup.s3`.",
      example: "0 */6 * * *",
    }),
    keep: z.int().min(1, "must be 1 or more").max(10_000).default(30).meta({
      description: "How many backups are kept. The oldest are deleted after a new one was taken; the newest never is.",
    }),
    maxAgeHours: z.int().min(1, "must be 1 hour or more").max(8_760, "must be 8760 hours at most").optional().meta({
      fallback: "twice the longest time between two runs of `backup.schedule`, else 168",
      description: "From which age on the newest backup counts as drift.",
      example: 24,
    }),
    beforeChanges: z.boolean().default(true).meta({
      description:
        "Take a backup before a control plane is removed or its machine is changed, and before an upgrade. If none can be taken, nothing is changed.",
    }),
    image: z
      .string()
      .regex(/^[a-z0-9][\w.:/@-]+$/, "must be an image such as docker.io/library/node:24.21.0-alpine")
      .default("docker.io/library/node:24.21.0-alpine")
      .meta({
        form: "image",
        description: "The image of the CronJob: it needs Node 24, and nothing else ([backup](backup.md#on-schedule)).",
      }),
  })
  .meta({ description: "Backups of etcd and the machine secrets ([backup](backup.md))." });

export type BackupSettings = Settings<typeof backup>;
export type S3Settings = Settings<typeof s3>;
