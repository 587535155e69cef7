// What a Proxmox cluster has now, as far as an environment depends on it. Each answer may be refused for itself, because of a privilege.
import { ApiError } from "../../components/api/apiError.ts";
import { type ProxmoxApi, proxmoxGet } from "../../components/api/proxmoxApi.ts";
import { type Pool, proxmoxPools } from "../../components/machines/proxmox/proxmoxCreated.ts";
import { record, text } from "../../components/model/untyped.ts";

/** An answer, or why there is none. */
export type Asked<T> = { readonly value: T } | { readonly reason: string };

/** As the API lists it, like everything here. https://pve.proxmox.com/pve-docs/api-viewer/ */
export interface Host {
  readonly node: string;
  readonly status: string;
  /** In bytes. Only of hosts that are online. */
  readonly maxmem?: number;
  readonly mem?: number;
}

/** A VM or a container: they share their ids. */
export interface Guest {
  readonly vmid: number;
  readonly name?: string;
  readonly node: string;
  readonly type: string;
  /** Separated by semicolons. */
  readonly tags?: string;
}

export interface Storage {
  readonly storage: string;
  /** Separated by commas. */
  readonly content: string;
  readonly active?: number;
  readonly enabled?: number;
  readonly shared?: number;
  /** Free bytes. */
  readonly avail?: number;
}

export interface Bridge {
  readonly iface: string;
  readonly type: string;
}

export interface ProxmoxOffer {
  readonly hosts: readonly Host[];
  readonly release: Asked<string>;
  readonly guests: Asked<readonly Guest[]>;
  /** Ids that are in use, also by guests that the token may not see. */
  readonly taken: Asked<readonly number[]>;
  readonly pools: Asked<readonly Pool[]>;
  /** By host. */
  readonly storages: Readonly<Record<string, Asked<readonly Storage[]>>>;
  readonly bridges: Readonly<Record<string, Asked<readonly Bridge[]>>>;
  /** The token's privileges, by path. */
  readonly privileges: Asked<Readonly<Record<string, readonly string[]>>>;
}

export interface ProxmoxQuestions {
  readonly hosts: readonly string[];
  readonly vmIds: readonly number[];
  readonly paths: readonly string[];
  readonly pool: string | undefined;
}

/** All calls at the same time. Throws if Proxmox does not answer at all, or does not accept the token. */
export async function proxmoxOffer(api: ProxmoxApi, questions: ProxmoxQuestions): Promise<ProxmoxOffer> {
  const get = <T>(path: string) => proxmoxGet(api, path) as Promise<T>;
  const ofHosts = async <T>(path: string) =>
    Object.fromEntries(
      await Promise.all(
        questions.hosts.map(async (host) => [host, await asked(get<T>(`/nodes/${encodeURIComponent(host)}${path}`))]),
      ),
    );
  const [hosts, release, guests, taken, pools, storages, bridges, privileges] = await Promise.all([
    get<readonly Host[]>("/nodes"),
    asked(get("/version").then((said) => text(record(said).version))),
    asked(get<readonly Guest[]>("/cluster/resources?type=vm")),
    asked(Promise.all(questions.vmIds.map((id) => takenId(api, id))).then((ids) => ids.flat())),
    asked(questions.pool === undefined ? Promise.resolve([]) : proxmoxPools(api)),
    ofHosts<readonly Storage[]>("/storage"),
    ofHosts<readonly Bridge[]>("/network?type=any_bridge"),
    asked(privilegesOn(api, questions.paths)),
  ]);
  return { hosts, release, guests, taken, pools, storages, bridges, privileges };
}

async function asked<T>(answer: Promise<T>): Promise<Asked<T>> {
  try {
    return { value: await answer };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { reason: error.message.replace(/^\S+ answers /, "") };
  }
}

/** Proxmox refuses an id that is in use. */
async function takenId(api: ProxmoxApi, id: number): Promise<readonly number[]> {
  try {
    await proxmoxGet(api, `/cluster/nextid?vmid=${id}`);
    return [];
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return [id];
    throw error;
  }
}

/** Every token may read its own. */
async function privilegesOn(api: ProxmoxApi, paths: readonly string[]): Promise<Record<string, readonly string[]>> {
  const all = paths.map(async (path): Promise<[string, string[]]> => {
    const said = record(await proxmoxGet(api, `/access/permissions?path=${encodeURIComponent(path)}`));
    return [path, Object.keys(record(said[path]))];
  });
  return Object.fromEntries(await Promise.all(all));
}
