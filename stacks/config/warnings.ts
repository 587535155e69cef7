// What may be a mistake in an environment but does not stop a run, such as names that are newer than Sluice.
import { faultLine } from "../base/fault.ts";
import { unknownNames } from "../rules/catalogues.ts";
import { unknownCiliumValues } from "../rules/cilium.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";

/** One line for each, with its place. */
export function configWarnings(config: ClusterConfig): readonly string[] {
  const rules = [unknownNames, unknownCiliumValues, ...(config.platform.warnings ?? [])];
  return rules.flatMap(({ check }) => check(config)).map((warning) => faultLine(warning));
}
