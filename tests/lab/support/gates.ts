import { gates as all } from "../../../components/gates/registry.ts";

/** The gates of a cluster without a VIP, in the order of the chain. */
export const gates = all.filter(({ part }) => part !== "virtualAddress").map(({ name }) => name);
