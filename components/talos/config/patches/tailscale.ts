import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/**
 * How the service of the extension siderolabs/tailscale is started: its image is containerboot, which is configured by environment variables.
 * Talos restarts the service when this changes, and nothing else. https://github.com/siderolabs/extensions/tree/main/network/tailscale
 */
export function tailscalePatches(
  { clusterName, tailscale, tailscaleAuthKey }: MachineConfigInput,
  { name }: MachineNode,
): readonly ConfigPatch[] {
  if (!tailscale.enabled) {
    return [];
  }
  const { loginServer, routes } = tailscale;
  const args = [...(loginServer === undefined ? [] : [`--login-server=${loginServer}`]), ...tailscale.extraArgs];
  const variables = {
    // A rule requires a key; only `render` cannot read it, and leaves it out.
    TS_AUTHKEY: tailscaleAuthKey,
    // A node that has joined the tailnet stays in it after its key was used or has expired.
    TS_AUTH_ONCE: "true",
    TS_HOSTNAME: tailnetName(tailscale.hostname, clusterName, name),
    TS_ROUTES: routes.join(","),
    TS_EXTRA_ARGS: args.join(" "),
  };
  const environment = Object.entries(variables)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([key, value]) => `${key}=${value}`);
  return [{ apiVersion: "v1alpha1", kind: "ExtensionServiceConfig", name: "tailscale", environment }];
}

/** The name of a node in the tailnet. */
export function tailnetName(pattern: string, cluster: string, node: string): string {
  return pattern.replaceAll("{cluster}", cluster).replaceAll("{node}", node);
}
