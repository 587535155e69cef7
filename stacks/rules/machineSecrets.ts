import { bundleFaults } from "../../components/talos/secrets/bundleFaults.ts";
import { isBundle, readBundle } from "../../components/talos/secrets/secretsBundle.ts";
import { rule } from "./rule.ts";

/** S7.1: with secrets that do not fit together a cluster could not start, and once it runs with them they cannot be changed. */
export const machineSecrets = rule(["machineSecrets"], function* ({ machineSecrets: text }) {
  if (text === undefined) return;
  const read = readBundle(text);
  for (const { path, message } of isBundle(read) ? bundleFaults(read, Date.now()) : read) {
    yield { path: path === "" ? "machineSecrets" : `machineSecrets.${path}`, message };
  }
});
