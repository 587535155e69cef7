/** What a node is told to be in the cluster. */
export type Role = "controlplane" | "worker";
