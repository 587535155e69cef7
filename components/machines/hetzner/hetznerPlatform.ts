import { hetznerApi, hetznerList } from "../../api/hetznerApi.ts";
import type { MachineEntries } from "../../lifecycle/changePlan.ts";
import type {
  CurrentMachine,
  CurrentMachines,
  MachinePlace,
  MachinePlatform,
} from "../../lifecycle/machinePlatform.ts";
import { hetznerCreated, hetznerProject } from "./hetznerCreated.ts";

export interface HetznerPlace extends MachinePlace {
  /** Prefix of the servers' names. */
  readonly cluster: string;
}

/** Servers of the Hetzner Cloud, in a private network that routes and does not switch. */
export const hetznerPlatform = {
  name: "hetzner",
  createsMachines: true,
  talosPlatform: () => "hcloud",
  hasImagePerNode: false,
  choosesMacs: false,
  // Images boot with `net.ifnames=0`: the public network comes first if there is one, then the private one.
  nicNames: ["eth0", "eth1"],
  noSharedAddress: {
    vip: "a Hetzner network routes and carries no ARP, so no node can take over an address: use hetzner.loadBalancer",
    services:
      "a Hetzner network routes and carries no ARP, so no node can answer for an address: remove it, the cloud controller creates load balancers",
  },
  machineTraits: {
    serverType: { words: "type", effect: "off" },
    location: { words: "location", effect: "recreate" },
  },
  unansweredCode: "SLU-M102",
  createdResources: async ({ place, token = "", deadlineSeconds }) => {
    const { cluster } = place as HetznerPlace;
    return hetznerCreated(cluster, await hetznerProject({ ...hetznerApi(token), deadlineSeconds }, cluster));
  },
  currentMachines: ({ place, token = "", entries }) => servers(token, (place as HetznerPlace).cluster, entries),
} as const satisfies MachinePlatform;

interface ServerView {
  readonly name: string;
  readonly server_type: { readonly name: string };
  readonly location?: { readonly name: string };
  /** The location was in this field before 2026. */
  readonly datacenter?: { readonly location: { readonly name: string } } | null;
  readonly public_net: { readonly ipv4?: { readonly ip: string } | null };
}

/** Found by name, which is unique in a project; labels may have been changed. */
async function servers(token: string, cluster: string, entries: MachineEntries): Promise<CurrentMachines> {
  const found = new Map<string, CurrentMachine>();
  for (const server of await hetznerList(hetznerApi(token), "servers")) {
    const { name, server_type, location, datacenter, public_net } = server as ServerView;
    const place = location?.name ?? datacenter?.location.name;
    const traits = { serverType: server_type.name, ...(place !== undefined && { location: place }) };
    found.set(name, { talosAddress: public_net.ipv4?.ip ?? "", ...traits });
  }
  const own = Object.keys(entries).map((node) => [node, found.get(`${cluster}-${node}`)] as const);
  return Object.fromEntries(own.flatMap(([node, server]) => (server === undefined ? [] : [[node, server]])));
}
