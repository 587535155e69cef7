import { hetznerApi } from "../../api/hetznerApi.ts";
import { hetznerServers } from "../../api/hetznerServers.ts";
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

/** Found by name, which is unique in a project; labels may have been changed. */
async function servers(token: string, cluster: string, entries: MachineEntries): Promise<CurrentMachines> {
  const all = await hetznerServers(hetznerApi(token));
  const found = new Map<string, CurrentMachine>(
    all.map(({ name, ipv4, ...traits }) => [name, { talosAddress: ipv4, ...traits }]),
  );
  const own = Object.keys(entries).map((node) => [node, found.get(`${cluster}-${node}`)] as const);
  return Object.fromEntries(own.flatMap(([node, server]) => (server === undefined ? [] : [[node, server]])));
}
