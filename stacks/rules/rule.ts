import type { Fault } from "../fault.ts";
import type { ClusterConfig } from "../schema.ts";

/** What several fields tell together, one concern a rule. */
export interface Rule {
  /** The top-level keys that the check looks at: it is run when these could be read, whatever is wrong elsewhere. */
  readonly reads: readonly (keyof ClusterConfig)[];
  readonly check: (config: ClusterConfig) => Fault[];
}

/** Makes a rule of a check. The type holds the check to the keys it declares. */
export function rule<Key extends keyof ClusterConfig>(
  reads: readonly Key[],
  check: (config: Pick<ClusterConfig, Key>) => Iterable<Fault>,
): Rule {
  return { reads, check: (config) => [...check(config)] };
}
