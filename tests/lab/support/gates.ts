import { gates as all } from "../../../components/gates/registry.ts";

/** The gates of a cluster with neither a VIP nor backups, in the order of the chain. */
export const gates = all.filter(({ part }) => part !== "virtualAddress" && part !== "backups").map(({ name }) => name);
