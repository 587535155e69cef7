import { gates as all } from "../../../components/gates/registry.ts";

/** The gates of a cluster with neither a VIP nor backups, in the order of the chain. */
export const gates = all.filter(({ part }) => part !== "virtualAddress" && part !== "backups").map(({ name }) => name);

/** Whether a resource of this type only proves: it is a gate, or the end of the chain, which waits for the last stability windows. */
export function onlyProves(type: string): boolean {
  return type.includes("dynamic/gates:") || type.endsWith("dynamic/chain:StableGates");
}
