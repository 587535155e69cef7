// What a Proxmox cluster has of the account of a cluster's driver for volumes, by the names that `ProxmoxCsiAccess` gives.
import { type ProxmoxApi, proxmoxGet } from "../../api/proxmoxApi.ts";
import { type CreatedResource, keyOf } from "../../lifecycle/createdResource.ts";
import { list, record, text } from "../../model/untyped.ts";

/** As the API lists it. */
export interface CsiAccount {
  readonly roles: readonly string[];
  readonly users: readonly string[];
  /** The names of the user's tokens. */
  readonly tokens: readonly string[];
}

const types = {
  role: "proxmoxve:index/roleLegacy:RoleLegacy",
  user: "proxmoxve:index/userLegacy:UserLegacy",
  token: "proxmoxve:user/token:Token",
} as const;

const roleParts = ["vms", "storage"] as const;

export async function csiAccount(api: ProxmoxApi, cluster: string): Promise<CsiAccount> {
  const [roles, users] = await Promise.all([proxmoxGet(api, "/access/roles"), proxmoxGet(api, "/access/users")]);
  const own = list(users)
    .map((user) => text(record(user).userid))
    .filter((id) => id === userId(cluster));
  const tokens = await Promise.all(own.map((id) => proxmoxGet(api, `/access/users/${id}/token`)));
  return {
    roles: list(roles).map((role) => text(record(role).roleid)),
    users: own,
    tokens: tokens.flatMap((all) => list(all).map((token) => text(record(token).tokenid))),
  };
}

/** Its rights need not be in a state: Proxmox gives them again without an error, and takes them away with the user. */
export function csiAccountCreated(cluster: string, { roles, users, tokens }: CsiAccount): readonly CreatedResource[] {
  const id = userId(cluster);
  const user = users.includes(id) ? [made("user", "user", { id, removal: `pveum user delete ${id}` })] : [];
  return [
    ...roleParts
      .map((part) => ({ part, id: `${cluster}-csi-${part}` }))
      .filter((role) => roles.includes(role.id))
      .map(({ part, id }) => made("role", part, { id, removal: `pveum role delete ${id}` })),
    ...user,
    ...tokens
      .filter((name) => name === tokenName)
      .map((name) => ({
        ...made("token", "token", { id: `${id}!${name}`, removal: `pveum user token delete ${id} ${name}` }),
        within: user.map(keyOf),
        // Proxmox shows its secret once, to the run that was killed.
        isUnfinished: true,
      })),
  ];
}

const tokenName = "csi";

function userId(cluster: string): string {
  return `${cluster}-csi@pve`;
}

function made(
  kind: keyof typeof types,
  part: string,
  { id, removal }: Pick<CreatedResource, "id" | "removal">,
): CreatedResource {
  return {
    type: types[kind],
    component: "sluice:machines:ProxmoxCsiAccess",
    part,
    id,
    title: `${kind} ${id}`,
    // Proxmox does not report when. Nobody but this cluster's driver uses any of it.
    created: new Date().toISOString(),
    isRoot: false,
    isUsed: false,
    within: [],
    removal,
  };
}
