// What a Proxmox cluster has of a cluster: VMs by their ids in the list of nodes, and what is made for them.
import { type ProxmoxApi, proxmoxGet } from "../../api/proxmoxApi.ts";
import type { MachineEntries } from "../../lifecycle/changePlan.ts";
import { type CreatedResources, keyOf } from "../../lifecycle/createdResource.ts";
import type { CreatedResourcesArgs } from "../../lifecycle/machinePlatform.ts";
import { list, record, text } from "../../model/untyped.ts";
import { pause } from "../../waiting/clock.ts";
import { type CsiAccount, csiAccountCreated } from "./proxmoxAccountCreated.ts";
import { type ImageFile, imagePrefix, imagesCreated } from "./proxmoxImagesCreated.ts";

/** As the API lists it. */
export interface Vm {
  readonly vmid: number;
  readonly name?: string;
  readonly node: string;
  readonly status: string;
  /** Separated by semicolons. */
  readonly tags?: string;
  readonly pool?: string;
  /** From its configuration, for VMs that are not in the state. */
  readonly meta?: string;
  /** The kinds of its tasks since it was created, for VMs that are not in the state. */
  readonly tasks?: readonly string[];
}

export interface Pool {
  readonly poolid: string;
  readonly comment?: string;
}

const vmType = "proxmoxve:index/vmLegacy:VmLegacy";
const poolType = "proxmoxve:index/poolLegacy:PoolLegacy";

export async function proxmoxPools(api: ProxmoxApi): Promise<readonly Pool[]> {
  return ((await proxmoxGet(api, "/pools")) ?? []) as readonly Pool[];
}

/** Delay between two readings of the tasks. */
const taskIntervalMs = 500;

/** What is still being created, although its caller was killed or lost the answer, is not listed by its name yet. */
export async function untilCreated(
  api: ProxmoxApi,
  { cluster, entries }: { readonly cluster: string; readonly entries: MachineEntries },
  { clock, report }: Pick<CreatedResourcesArgs, "clock" | "report">,
): Promise<void> {
  const ids = new Set(Object.values(entries).map(({ vmId }) => `${vmId}`));
  const created = (type: string, id: string) => {
    if (type === "qmcreate" && ids.has(id)) return [`VM ${id}`];
    return type === "download" && id.startsWith(imagePrefix(cluster)) ? [`image ${id}`] : [];
  };
  for (let last = ""; ; ) {
    const tasks = list(await proxmoxGet(api, "/cluster/tasks")).map(record);
    const running = tasks.flatMap(({ type, id, endtime }) =>
      endtime === undefined ? created(text(type), text(id)) : [],
    );
    if (running.length === 0) return;
    const all = running.join(", ");
    if (all !== last) report(`waiting for ${all}, which an earlier run started to create`);
    last = all;
    await pause(clock, taskIntervalMs);
  }
}

/** One list of all VMs; for those not in the state also their creation time and tasks. */
export async function proxmoxVms(
  api: ProxmoxApi,
  cluster: string,
  entries: MachineEntries,
  known: CreatedResourcesArgs["known"],
): Promise<readonly Vm[]> {
  const all = ((await proxmoxGet(api, "/cluster/resources?type=vm")) ?? []) as readonly Vm[];
  const own = all.filter((vm) => nodeOf(vm, cluster, entries) !== undefined);
  return Promise.all(
    own.map(async (vm) => {
      if (Object.hasOwn(known, vm.vmid)) return vm;
      const path = `/nodes/${vm.node}`;
      const [config, tasks] = await Promise.all([
        proxmoxGet(api, `${path}/qemu/${vm.vmid}/config`),
        // An account sees at least the tasks that it started.
        proxmoxGet(api, `${path}/tasks?vmid=${vm.vmid}`),
      ]);
      const meta = text(record(config).meta);
      return { ...vm, ...(meta !== "" && { meta }), tasks: tasksOf(vm.vmid, tasks) };
    }),
  );
}

/** The kinds of a VM's tasks since it was created: another one may have had its id before. */
function tasksOf(vmId: number, tasks: unknown): readonly string[] {
  const own = list(tasks)
    .map(record)
    .filter(({ id }) => id === `${vmId}`)
    .map(({ type, starttime }) => ({ type: text(type), began: Number(starttime) }));
  const created = Math.max(...own.filter(({ type }) => type === "qmcreate").map(({ began }) => began));
  return own.filter(({ began }) => began >= created).map(({ type }) => type);
}

export interface ProxmoxListing {
  readonly vms: readonly Vm[];
  readonly pools?: readonly Pool[];
  readonly account?: CsiAccount;
  readonly files?: readonly ImageFile[];
}

const noAccount: CsiAccount = { roles: [], users: [], tokens: [] };

/** A VM depends on nothing of the cluster that could show whose it is: another VM of the list in the state does. */
export function proxmoxCreated(
  cluster: string,
  { vms, pools = [], account = noAccount, files = [] }: ProxmoxListing,
  { entries, known = {} }: { readonly entries: MachineEntries; readonly known?: CreatedResourcesArgs["known"] },
): CreatedResources {
  const own = pools.filter(({ comment }) => comment === poolComment(cluster));
  const poolsOf = vms.map((vm) => vm.pool);
  const ofPools = own.map(({ poolid }) => ({
    type: poolType,
    part: "pool",
    id: poolid,
    title: `pool ${poolid}`,
    // An empty pool contains nothing that could belong to someone else; Proxmox does not report when it was created.
    created: poolsOf.includes(poolid) ? undefined : new Date().toISOString(),
    isRoot: false,
    isUsed: poolsOf.includes(poolid),
    within: [],
    removal: `pvesh delete /pools/${poolid}`,
  }));
  const ofVms = vms.flatMap((vm) => {
    const part = nodeOf(vm, cluster, entries);
    if (part === undefined) return [];
    const ctime = /\bctime=(\d+)/.exec(vm.meta ?? "")?.[1];
    return [
      {
        type: vmType,
        part,
        id: `${vm.vmid}`,
        importId: `${vm.node}/${vm.vmid}`,
        title: `VM ${vm.vmid} (${vm.name})`,
        created: ctime && new Date(Number(ctime) * 1000).toISOString(),
        isRoot: true,
        isUsed: vm.status === "running",
        isUnfinished: isUnfinished(vm),
        within: [],
        uses: own.flatMap(({ poolid }) => (poolid === vm.pool ? [keyOf({ type: poolType, id: poolid })] : [])),
        removal: `qm stop ${vm.vmid} && qm destroy ${vm.vmid}, on ${vm.node}`,
      },
    ];
  });
  return {
    component: "sluice:machines:ProxmoxMachines",
    resources: [...imagesCreated(cluster, files, known), ...ofPools, ...ofVms, ...csiAccountCreated(cluster, account)],
    blockers: [],
  };
}

/** The description of a cluster's pool. */
export function poolComment(cluster: string): string {
  return `The Talos cluster ${cluster}, made by Sluice`;
}

/** It was created and never started. The plugin would start it and then refuse to resize its disk. */
function isUnfinished({ status, tasks = [] }: Vm): boolean {
  return status === "stopped" && tasks.includes("qmcreate") && !tasks.includes("qmstart");
}

/** Proxmox allows several VMs with the same name, so id and tag must match as well. */
function nodeOf({ vmid, name, tags = "" }: Vm, cluster: string, entries: MachineEntries): string | undefined {
  if (!tags.split(/[;, ]/).includes(cluster)) return undefined;
  return Object.keys(entries).find((node) => name === `${cluster}-${node}` && entries[node]?.vmId === vmid);
}
