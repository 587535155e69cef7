import { callApi, parsedJson, type Send } from "./callApi.ts";
import type { ProxiedApi } from "./proxiedApi.ts";

/** The state has the address of the API. The plugin is given this variable as HTTPS_PROXY, and no other plugin is. */
export const proxmoxProxied = { by: "tunnel", variable: "SLUICE_PROXMOX_TUNNEL" } as const satisfies ProxiedApi;

export interface ProxmoxApi {
  /** Such as `https://10.0.0.2:8006`. */
  readonly apiUrl: string;
  /** Accept Proxmox' self-signed certificate. */
  readonly insecure: boolean;
  readonly token: string;
  /** Seconds after which a call counts as unanswered. */
  readonly deadlineSeconds: number;
  /** Default: over the network. */
  readonly send?: Send;
}

/** What the API returns for a path such as `/nodes/pve/status`. Its error messages are in the status line. */
export async function proxmoxGet({ apiUrl, token, ...api }: ProxmoxApi, path: string): Promise<unknown> {
  const headers = { authorization: `PVEAPIToken=${token}` };
  return await callApi(
    { ...api, url: apiUrl.replace(/\/$/, "") },
    `/api2/json${path}`,
    { headers },
    {
      read: (body) => (parsedJson(body) as { readonly data?: unknown } | undefined)?.data,
      words: ({ reason }) => ` ${reason}`,
    },
  );
}
