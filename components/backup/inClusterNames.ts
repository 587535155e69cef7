// Names in the cluster that several parts must agree on.

/** The namespace of scheduled backups: the only one whose pods may have a certificate for Talos' API. */
export const backupNamespace = "sluice-backup";
/** Names the CronJob, its credentials for Talos' API, and what belongs to them. */
export const backupName = "sluice-backup";
/** The role of its credentials: it may take etcd snapshots, and nothing else. */
export const backupRole = "os:etcd:backup";
