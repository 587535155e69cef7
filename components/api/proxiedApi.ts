// How calls of a platform's plugin are led through Sluice's proxy during a run. None of this is in the state. docs/decisions/api-proxy.md

export type ProxiedApi =
  /** The plugin reads the API's address from a variable. The proxy sees its calls, and can repeat them. */
  | { readonly by: "address"; readonly variable: string; readonly usualUrl: string }
  /** The plugin gets this variable as the address of its network's proxy. Its calls stay encrypted, and can only be ended. */
  | { readonly by: "tunnel"; readonly variable: string };

/** The variable with the API's own address, while the plugin's variable has the proxy's. */
export function directVariable(variable: string): string {
  return `SLUICE_${variable}`;
}
