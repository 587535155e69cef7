import { proxmoxGet } from "../../api/proxmoxApi.ts";
import type { MachineEntries } from "../../lifecycle/changePlan.ts";
import type { CurrentMachines, MachinePlace, MachinePlatform } from "../../lifecycle/machinePlatform.ts";
import { csiAccount } from "./proxmoxAccountCreated.ts";
import { proxmoxCreated, proxmoxPools, proxmoxVms, untilCreated } from "./proxmoxCreated.ts";
import { imageFiles } from "./proxmoxImagesCreated.ts";

export interface ProxmoxPlace extends MachinePlace {
  /** Prefix of the VMs' names. */
  readonly cluster: string;
  /** Of the Proxmox API. */
  readonly apiUrl: string;
  readonly insecure: boolean;
}

/** Seconds for one call. */
const callDeadlineSeconds = 10;

/** VMs on one Proxmox cluster. */
export const proxmoxPlatform = {
  name: "proxmox",
  createsMachines: true,
  // META key 10 is only read on metal.
  talosPlatform: (addressing) => (addressing === "nocloud" ? "nocloud" : "metal"),
  hasImagePerNode: true,
  choosesMacs: true,
  machineTraits: { vmId: { words: "VM id", effect: "recreate", isUnique: true } },
  unansweredCode: "SLU-M115",
  async createdResources({ place, token = "", entries, known, deadlineSeconds, clock, report }) {
    const { cluster, apiUrl, insecure } = place as ProxmoxPlace;
    const api = { apiUrl, insecure, token, deadlineSeconds };
    await untilCreated(api, { cluster, entries }, { clock, report });
    const [vms, pools, account, files] = await Promise.all([
      proxmoxVms(api, cluster, entries, known),
      proxmoxPools(api),
      csiAccount(api, cluster),
      imageFiles(api),
    ]);
    return proxmoxCreated(cluster, { vms, pools, account, files }, { entries, known });
  },
  async currentMachines({ place, token = "", entries }) {
    const { cluster, apiUrl, insecure } = place as ProxmoxPlace;
    const api = { apiUrl, insecure, token, deadlineSeconds: callDeadlineSeconds };
    return vms(await proxmoxGet(api, "/cluster/resources?type=vm"), cluster, entries);
  },
} as const satisfies MachinePlatform;

/** Only a guest agent reports a VM's address; this uses the address in the node's entry, with which the VM was created. */
function vms(said: unknown, cluster: string, entries: MachineEntries): CurrentMachines {
  const all = Array.isArray(said) ? (said as readonly { readonly name?: string; readonly vmid: number }[]) : [];
  const found = Object.entries(entries).flatMap(([node, { address, vmId }]) => {
    const own = all.filter(({ name }) => name === `${cluster}-${node}`);
    const vm = own.find(({ vmid }) => vmid === vmId) ?? own[0];
    return vm === undefined ? [] : [[node, { talosAddress: address, vmId: vm.vmid }] as const];
  });
  return Object.fromEntries(found);
}
