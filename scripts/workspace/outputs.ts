// What a stack hands out.
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
  const asked = await run(toolchain.pulumi, ["stack", "output", "--json", "--show-secrets", "--stack", environment], {
    cwd: root,
    env: await backendEnvironment(toolchain),
  });
  if (asked.code !== 0) {
    throw new Failure(
      `the state of ${environment} cannot be read; 'npm run up -- ${environment}' makes one:\n${asked.stderr.trim()}`,
    );
  }
  const { kubeconfig, talosconfig } = JSON.parse(asked.stdout);
  return { kubeconfig, talosconfig };
}
