// What a platform has, asked without Sluice: whatever a run creates must be in its state, and gone after destroy.

import type { Item } from "../../scripts/tools/soak/claims.ts";
import type { Platform } from "../lab/support/chainEnvironment.ts";
import { Cloud, type InLab } from "../lab/support/cloud.ts";
import { Proxmox } from "../lab/support/proxmox.ts";

export const inventories: Readonly<Record<Platform, (lab: InLab) => Promise<readonly Item[]>>> = {
  hetzner: async (lab) => {
    const cloud = new Cloud(lab);
    const managed = ["servers", "networks", "firewalls", "placement_groups", "load_balancers"];
    const lists = [...managed, "primary_ips", "volumes"].map(async (kind) => {
      const { [kind]: items } = await cloud.call("GET", `/${kind}`);
      return items.map(({ id }: { id: number }) => ({ kind, id: `${id}`, isManaged: managed.includes(kind) }));
    });
    return (await Promise.all(lists)).flat();
  },
  proxmox: async (lab) => {
    const proxmox = new Proxmox(lab);
    const [vms, pools, users, roles] = await Promise.all([
      proxmox.call("GET", "/cluster/resources?type=vm"),
      proxmox.call("GET", "/pools"),
      proxmox.call("GET", "/access/users"),
      proxmox.call("GET", "/access/roles"),
    ]);
    return [
      ...vms.map(({ vmid }: { vmid: number }) => ({ kind: "VM", id: `${vmid}`, isManaged: true })),
      ...pools.map(({ poolid }: { poolid: string }) => ({ kind: "pool", id: poolid, isManaged: true })),
      ...users.map(({ userid }: { userid: string }) => ({ kind: "user", id: userid, isManaged: false })),
      ...roles.map(({ roleid }: { roleid: string }) => ({ kind: "role", id: roleid, isManaged: false })),
    ];
  },
  existing: async () => [],
};
