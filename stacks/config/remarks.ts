// What the program says of its configuration besides faults. An `up` runs it twice, first as a preview.
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { configWarnings } from "./warnings.ts";

/** Set by the npm commands: they have had the machine configs judged before the engine starts. */
export const judgedVariable = "SLUICE_CONFIGS_JUDGED";
/** Set by the npm commands: the engine previews before it updates. */
export const previewsVariable = "SLUICE_PREVIEWS";

export interface Remarks {
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** Warnings are never left out: without the npm commands it is not known whether a preview has shown them, so an update repeats them. */
export function remarksOf(
  config: ClusterConfig,
  stack: string,
  { isPreview, unjudged }: { readonly isPreview: boolean; readonly unjudged: string | undefined },
  env: NodeJS.ProcessEnv,
): Remarks {
  const isRepeated = !isPreview && env[previewsVariable] !== undefined;
  return {
    warnings: isRepeated ? [] : configWarnings(config),
    notes:
      unjudged === undefined
        ? []
        : [
            `Talos' own validator has not judged the machine configs: ${unjudged}. 'npm run preview -- ${stack}' does that, and nodes refuse what it would refuse.`,
          ],
  };
}
