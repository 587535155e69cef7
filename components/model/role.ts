import type { Settings } from "./settings/documentation.ts";
import type { role } from "./settings/scalars.ts";

/** The role of a node in the cluster. */
export type Role = Settings<typeof role>;
