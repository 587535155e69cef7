import { type Api, callApi, parsedJson } from "./callApi.ts";
import { directVariable, type ProxiedApi } from "./proxiedApi.ts";

export interface HetznerApi extends Api {
  readonly token: string;
}

/** The plugin has the address of the API from this variable, if that is not the usual one. */
export const hetznerProxied = {
  by: "address",
  variable: "HCLOUD_ENDPOINT",
  usualUrl: "https://api.hetzner.cloud/v1",
} as const satisfies ProxiedApi;

/** The API's own address, also where the plugin has that of a proxy: Sluice's own calls have timeouts and retries of their own. */
export function hetznerUrl(): string {
  const { variable, usualUrl } = hetznerProxied;
  return (process.env[directVariable(variable)] || process.env[variable] || usualUrl).replace(/\/$/, "");
}

export function hetznerApi(token: string): HetznerApi {
  return { url: hetznerUrl(), token, deadlineSeconds: 10 };
}

/** What the API returns for a path such as `/servers?name=cp-1`. */
export async function hetznerGet(api: HetznerApi, path: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${api.token}` };
  return await callApi(api, path, { headers }, { read: parsedJson, words: ({ body }) => errorIn(body) });
}

/** The items on all pages of a list such as `servers`. */
export async function hetznerList(
  api: HetznerApi,
  kind: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let page: number | null | undefined = 1; page; ) {
    const search = new URLSearchParams({ ...query, per_page: "50", page: `${page}` });
    const answer = (await hetznerGet(api, `/${kind}?${search}`)) as HetznerPage;
    found.push(...(answer[kind] as readonly unknown[]));
    page = answer.meta?.pagination?.next_page;
  }
  return found;
}

interface HetznerPage {
  readonly [kind: string]: unknown;
  readonly meta?: { readonly pagination?: { readonly next_page?: number | null } };
}

function errorIn(body: string): string {
  const { error } = (parsedJson(body) ?? {}) as {
    readonly error?: { readonly code?: string; readonly message?: string };
  };
  return error === undefined ? "" : `: ${error.message} (${error.code})`;
}
