import type { ErrorDetails } from "../../errors/sluiceError.ts";
import { consequences } from "./consequences.ts";
import { differences, type SecretsBundle } from "./secretsBundle.ts";

/** Why a cluster does not take other machine secrets than it has, with the places at which they differ; undefined if they are the same. */
export function otherSecrets(there: SecretsBundle, wanted: SecretsBundle): ErrorDetails | undefined {
  const paths = differences(there, wanted);
  if (paths.length === 0) return undefined;
  return {
    code: "SLU-T221",
    what: "the machine secrets that the state has",
    seen: `others, which differ in ${paths.join(", ")}. With them ${consequences(paths).join("; ")}`,
  };
}
