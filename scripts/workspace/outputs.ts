// What a stack hands out that opens its cluster.
import { withServer } from "../../components/talos/withServer.ts";
import { record, resourcesIn, text } from "../summary/stackState.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { settingsFile } from "./environments.ts";
import { Failure } from "./fail.ts";
import { root } from "./paths.ts";
import { run } from "./run.ts";
import { backendEnvironment } from "./stack.ts";

/** What opens a cluster: secret, and there once it has been made. */
export interface StackAccess {
  readonly kubeconfig?: string;
  readonly talosconfig?: string;
}

/** Reads it from the state: no cluster is asked. */
export async function stackAccess(toolchain: Toolchain, environment: string): Promise<StackAccess> {
  await settingsFile(environment); // says which there are
  const asked = await run(toolchain.pulumi, ["stack", "export", "--show-secrets", "--stack", environment], {
    cwd: root,
    env: await backendEnvironment(toolchain),
  });
  if (asked.code !== 0) {
    throw new Failure(
      `the state of ${environment} cannot be read; 'npm run up -- ${environment}' makes one:\n${asked.stderr.trim()}`,
    );
  }
  return accessIn(JSON.parse(asked.stdout));
}

/**
 * Of what `pulumi stack export --show-secrets` prints. The stack has no outputs when `up` has failed, which is when they are wanted most: so it is
 * taken from what made it. Where the Kubernetes API was not reached yet at the address that will be handed out, it is at the control plane's own.
 */
export function accessIn(exported: unknown): StackAccess {
  const all = resourcesIn(exported);
  const outputs = (type: string) => record(all.find((resource) => resource.type === type)?.outputs);
  const stack = outputs("pulumi:pulumi:Stack");
  const made = outputs("talos:cluster/kubeconfig:Kubeconfig");
  const raw = plain(made.kubeconfigRaw);
  const kubeconfig = plain(stack.kubeconfig) ?? (raw && withServer(raw, `https://${text(made.node)}:6443`));
  const talosconfig = plain(outputs("sluice:talos:Talosconfig").talosconfig);
  return { ...(kubeconfig && { kubeconfig }), ...(talosconfig && { talosconfig }) };
}

/** A secret in plain text; undefined where there is none. */
function plain(value: unknown): string | undefined {
  const { plaintext } = record(value);
  return plaintext === undefined ? undefined : JSON.parse(text(plaintext));
}
