import { backupName, backupNamespace } from "../../backup/inClusterNames.ts";

const batch = `/apis/batch/v1/namespaces/${backupNamespace}`;

/** The lists that show whether the cluster takes backups. */
export const backupPaths = {
  cronJobs: `${batch}/cronjobs?fieldSelector=metadata.name%3D${backupName}`,
  jobs: `${batch}/jobs`,
  pods: `/api/v1/namespaces/${backupNamespace}/pods`,
  events: `/api/v1/namespaces/${backupNamespace}/events`,
} as const;
