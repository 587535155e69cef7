// The machine secrets in the state of a stack.
import { record } from "../../components/model/untyped.ts";
import { fromPlugin, isBundle, type SecretsBundle } from "../../components/talos/secrets/secretsBundle.ts";
import { plainValue, resourcesIn } from "../stack/exported.ts";

/** From what `pulumi stack export --show-secrets` prints; undefined if it has none. */
export function secretsIn(exported: unknown): SecretsBundle | undefined {
  const resource = resourcesIn(exported).find(({ type }) => type === "talos:machine/secrets:Secrets");
  const read = fromPlugin(plainValue(record(resource?.outputs).machineSecrets));
  return isBundle(read) ? read : undefined;
}
