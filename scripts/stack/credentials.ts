// The credentials of a stack's cluster.

import { record, text } from "../../components/model/untyped.ts";
import { withServer } from "../../components/talos/credentials/withServer.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import type { ClusterCredentials } from "../lab/credentials.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { plainValue, resourcesIn } from "./exported.ts";
import { backendEnvironment } from "./stack.ts";

/** Reads them from the state, without calling the cluster. */
export async function stackCredentials(toolchain: Toolchain, environment: string): Promise<ClusterCredentials> {
  return credentialsIn(await exportedWithSecrets(toolchain, environment));
}

/** What `pulumi stack export --show-secrets` prints. It takes no lock. */
export async function exportedWithSecrets(toolchain: Toolchain, environment: string): Promise<unknown> {
  await settingsFile(environment); // lists the environments where it is missing
  const asked = await run(toolchain.pulumi, ["stack", "export", "--show-secrets", "--stack", environment], {
    cwd: root,
    env: await backendEnvironment(toolchain),
  });
  if (asked.code !== 0) {
    const hint = /no stack named/.test(asked.stderr) ? `; 'npm run up -- ${environment}' creates it` : "";
    throw new Failure(`cannot read the state of ${environment}${hint}:\n${asked.stderr.trim()}`);
  }
  return JSON.parse(asked.stdout);
}

/**
 * From the output of `pulumi stack export --show-secrets`. If `up` failed, the stack has no outputs, but then credentials are needed most: they are read from
 * the resources that created them. If the API server was not reached at its final address yet, the kubeconfig contains the control plane's own.
 */
export function credentialsIn(exported: unknown): ClusterCredentials {
  const all = resourcesIn(exported);
  const outputs = (type: string) => record(all.find((resource) => resource.type === type)?.outputs);
  const stack = outputs("pulumi:pulumi:Stack");
  const made = outputs("talos:cluster/kubeconfig:Kubeconfig");
  const raw = plain(made.kubeconfigRaw);
  const kubeconfig = plain(stack.kubeconfig) ?? (raw && withServer(raw, `https://${text(made.node)}:6443`));
  const talosconfig = plain(outputs("sluice:talos:Talosconfig").talosconfig);
  return { ...(kubeconfig && { kubeconfig }), ...(talosconfig && { talosconfig }) };
}

/** A secret in plain text; undefined if there is none. */
function plain(value: unknown): string | undefined {
  return record(value).plaintext === undefined ? undefined : text(plainValue(value));
}
