// The machines that there are, as their platform tells: whatever a state or a list says, these are what is turned off or deleted.
import { hetznerApi, hetznerGet } from "./hetznerApi.ts";
import type { MachineEntries, MachineTraits } from "./machineChange.ts";
import { proxmoxGet } from "./proxmoxApi.ts";

/** Where they are told of. */
export type MachinePlace =
  | { readonly kind: "hetzner"; readonly cluster: string }
  | { readonly kind: "proxmox"; readonly cluster: string; readonly endpoint: string; readonly insecure: boolean }
  /** Nowhere: they are what the list says. */
  | { readonly kind: "existing" };

export interface StandingMachine extends MachineTraits {
  /** Where it is reached from here. */
  readonly endpoint: string;
}

export interface PlaceArgs {
  readonly place: MachinePlace;
  /** Of the account. Secret. */
  readonly token?: string | undefined;
  /** The nodes as they were listed when their machines were made. */
  readonly entries: MachineEntries;
}

/** Seconds for one question. */
const patience = 10;

/** By the names of their nodes. */
export async function standingMachines({ place, token = "", entries }: PlaceArgs) {
  switch (place.kind) {
    case "hetzner":
      return await servers(token, place.cluster, entries);
    case "proxmox": {
      const api = { ...place, token, deadline: patience };
      return vms(await proxmoxGet(api, "/cluster/resources?type=vm"), place.cluster, entries);
    }
    case "existing": {
      const all = Object.entries(entries).map(([node, { reach, address }]) => [node, { endpoint: reach ?? address }]);
      return Object.fromEntries(all) as StandingMachines;
    }
  }
}

export type StandingMachines = Readonly<Record<string, StandingMachine>>;

interface ServerView {
  readonly name: string;
  readonly server_type: { readonly name: string };
  readonly location?: { readonly name: string };
  /** Where the location stood before 2026. */
  readonly datacenter?: { readonly location: { readonly name: string } } | null;
  readonly public_net: { readonly ipv4?: { readonly ip: string } | null };
}

interface ServerPage {
  readonly servers: readonly ServerView[];
  readonly meta?: { readonly pagination?: { readonly next_page?: number | null } };
}

/** By their names, of which there is but one in a project; labels somebody may have changed. */
async function servers(token: string, cluster: string, entries: MachineEntries): Promise<StandingMachines> {
  const found = new Map<string, StandingMachine>();
  for (let page: number | null | undefined = 1; page; ) {
    const said = (await hetznerGet(hetznerApi(token), `/servers?per_page=50&page=${page}`)) as ServerPage;
    for (const { name, server_type, location, datacenter, public_net } of said.servers) {
      const place = location?.name ?? datacenter?.location.name;
      const traits = { serverType: server_type.name, ...(place !== undefined && { location: place }) };
      found.set(name, { endpoint: public_net.ipv4?.ip ?? "", ...traits });
    }
    page = said.meta?.pagination?.next_page;
  }
  const own = Object.keys(entries).map((node) => [node, found.get(`${cluster}-${node}`)] as const);
  return Object.fromEntries(own.flatMap(([node, server]) => (server === undefined ? [] : [[node, server]])));
}

/** A VM tells its address only by an agent; the node's is the one that it was made with. */
function vms(said: unknown, cluster: string, entries: MachineEntries): StandingMachines {
  const all = Array.isArray(said) ? (said as readonly { readonly name?: string; readonly vmid: number }[]) : [];
  const found = Object.entries(entries).flatMap(([node, { address, vmId }]) => {
    const own = all.filter(({ name }) => name === `${cluster}-${node}`);
    const vm = own.find(({ vmid }) => vmid === vmId) ?? own[0];
    return vm === undefined ? [] : [[node, { endpoint: address, vmId: vm.vmid }] as const];
  });
  return Object.fromEntries(found);
}
