// Whether a Proxmox cluster has what an environment names, and lets its token create the VMs.
import { poolComment } from "../../components/machines/proxmox/proxmoxCreated.ts";
import { vmSize } from "../../components/machines/proxmox/proxmoxVm.ts";
import { vmHost } from "../../components/machines/proxmox/vmHost.ts";
import { didYouMean } from "../../components/model/suggest.ts";
import { type ApiAccess, type ApiAnswers, type ApiFinding, distinct, nodeKey, unrecorded } from "./apiCheck.ts";
import { type Asked, type Guest, type ProxmoxOffer, proxmoxOffer, type Storage } from "./proxmoxOffer.ts";
import { missingPrivileges, pathsOf, privilegeNeeds } from "./proxmoxPrivileges.ts";
import type { ProxmoxConfig } from "./proxmoxRules.ts";

/** What the check reads of an environment. */
export type CheckedConfig = Pick<ProxmoxConfig, "clusterName" | "nodes" | "settings" | "network" | "csi">;

export async function proxmoxCheck(config: CheckedConfig, access: ApiAccess): Promise<ApiAnswers> {
  const { settings, nodes } = config;
  const { endpoint: apiUrl, insecure, hosts, pool } = settings;
  const { token, deadlineSeconds, send } = access;
  const api = { apiUrl, insecure, token, deadlineSeconds, ...(send !== undefined && { send }) };
  const paths = pathsOf(privilegeNeeds(config, hasVolumes(config)));
  const vmIds = nodes.flatMap(({ vmId }) => vmId ?? []);
  const offer = await proxmoxOffer(api, { hosts, vmIds, paths, pool });
  return { findings: proxmoxFindings(config, offer, access), unchecked: unanswered(offer) };
}

function hasVolumes({ csi }: CheckedConfig): boolean {
  return csi.enabled ?? true;
}

export function proxmoxFindings(
  config: CheckedConfig,
  offer: ProxmoxOffer,
  access: Pick<ApiAccess, "recorded" | "isSettled">,
): readonly ApiFinding[] {
  const made = newVms(config, offer);
  const hosts = [...new Set(config.nodes.map((node) => vmHost(node, config.settings.hosts)))];
  return distinct([
    ...(made.length > 0 ? release(offer) : []),
    ...hosts.flatMap((host) => {
      const own = made.filter((vm) => vm.host === host);
      const isWarning = own.length === 0;
      const all = [...places(host, offer, config), ...storages(host, offer, config), ...bridges(host, offer, config)];
      return [...all.map((finding) => ({ ...finding, isWarning })), ...space(host, own, offer, config)];
    }),
    ...ids(config, offer, access),
    ...pools(config, offer, access),
    ...privileges(config, offer).map((finding) => ({ ...finding, isWarning: made.length === 0 })),
  ]);
}

/** What the API did not answer. Of a host that is unknown or offline that is reported already. */
function unanswered({ hosts, ...offer }: ProxmoxOffer): readonly string[] {
  const isOnline = (name: string) => hosts.some(({ node, status }) => node === name && status === "online");
  const ofHosts = (what: string, answers: Readonly<Record<string, Asked<unknown>>>) =>
    Object.entries(answers).map(([host, answer]) => [`${what} of ${host}`, answer, isOnline(host)] as const);
  const all = [
    ["the version", offer.release, true],
    ["the VMs", offer.guests, true],
    ["the VM ids in use", offer.taken, true],
    ["the pools", offer.pools, true],
    ...ofHosts("the storages", offer.storages),
    ...ofHosts("the bridges", offer.bridges),
    ["the token's privileges", offer.privileges, true],
  ] as const;
  return all.flatMap(([what, answer, matters]) =>
    "reason" in answer && matters ? [`${what} (${answer.reason.trim()})`] : [],
  );
}

function value<T>(answer: Asked<T> | undefined): T | undefined {
  return answer !== undefined && "value" in answer ? answer.value : undefined;
}

interface NewVm {
  readonly host: string;
  readonly memoryMiB: number;
  readonly diskGiB: number;
}

/** VMs that `up` creates: nothing that the token may see has their id. */
function newVms({ nodes, settings }: CheckedConfig, { guests }: ProxmoxOffer): readonly NewVm[] {
  const known = value(guests);
  return nodes
    .filter(({ vmId }) => known !== undefined && !known.some(({ vmid }) => vmid === vmId))
    .map((node) => {
      const { memory, disk } = vmSize(settings.sizes[node.role], node.size);
      return { host: vmHost(node, settings.hosts), memoryMiB: memory, diskGiB: disk };
    });
}

/** Images are imported from a storage. */
const leastRelease = [8, 4] as const;

function release(offer: ProxmoxOffer): readonly ApiFinding[] {
  const version = value(offer.release);
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  const [leastMajor, leastMinor] = leastRelease;
  const isEnough = Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
  if (major === "" || isEnough) return [];
  const message = `is Proxmox VE ${version}, which cannot import images: ${leastRelease.join(".")} or later can`;
  return [{ code: "SLU-M121", path: "proxmox.endpoint", message }];
}

function places(host: string, { hosts }: ProxmoxOffer, { settings, nodes }: CheckedConfig): readonly ApiFinding[] {
  const path = `proxmox.hosts[${settings.hosts.indexOf(host)}]`;
  const found = hosts.find(({ node }) => node === host);
  if (found === undefined) {
    const known = hosts.map(({ node }) => node);
    const hint = didYouMean(host, known) || `: it has ${known.join(", ")}`;
    return [{ code: "SLU-M121", path, message: `'${host}' is not a host of this Proxmox${hint}` }];
  }
  if (found.status === "online") return [];
  const there = nodes.filter((node) => vmHost(node, settings.hosts) === host).map(({ name }) => name);
  return [{ code: "SLU-M121", path, message: `${host} is ${found.status}, the host of ${there.join(", ")}` }];
}

/** A storage with what it is used for, as Proxmox calls it. */
type Use = readonly [path: string, name: string, content: string];

function uses({ settings, csi }: CheckedConfig): readonly Use[] {
  const { storage, imageStorage, volumes } = settings;
  return [
    ["proxmox.storage", storage, "images"],
    ["proxmox.imageStorage", imageStorage, "import"],
    ...((csi.enabled ?? true) && volumes.storage !== undefined
      ? [["proxmox.volumes.storage", volumes.storage, "images"] as const]
      : []),
  ];
}

function storages(host: string, offer: ProxmoxOffer, config: CheckedConfig): readonly ApiFinding[] {
  const known = value(offer.storages[host]);
  if (known === undefined) return [];
  return uses(config).flatMap(([path, name, content]) => {
    const finding = (message: string, remedy?: string): ApiFinding[] => [{ code: "SLU-M121", path, message, remedy }];
    const found = known.find(({ storage }) => storage === name);
    if (found === undefined) {
      const names = known.map(({ storage }) => storage);
      const hint = didYouMean(name, names) || `: those are ${names.join(", ") || "none"}`;
      return finding(`'${name}' is not a storage of ${host} that the token may see${hint}`);
    }
    if (found.enabled === 0 || found.active === 0) {
      return finding(`${name} is ${found.enabled === 0 ? "disabled" : "not active"} on ${host}`);
    }
    const contents = found.content.split(",");
    if (contents.includes(content)) return [];
    const able = known.filter((one) => one.content.split(",").includes(content)).map(({ storage }) => storage);
    return finding(
      `${name} does not allow the content type '${content}', but only ${contents.join(", ")}${able.length > 0 ? `; ${able.join(", ")} does` : ""}`,
      `Allow it, on a Proxmox host: pvesm set ${name} --content ${[...contents, content].join(",")}. Or use a storage that allows it.`,
    );
  });
}

function bridges(host: string, offer: ProxmoxOffer, { settings }: CheckedConfig): readonly ApiFinding[] {
  const known = value(offer.bridges[host])?.map(({ iface }) => iface);
  if (known === undefined || known.includes(settings.bridge)) return [];
  const hint = didYouMean(settings.bridge, known) || `: those are ${known.join(", ") || "none"}`;
  const message = `'${settings.bridge}' is not a bridge of ${host} that the token may use${hint}`;
  return [{ code: "SLU-M121", path: "proxmox.bridge", message }];
}

const gib = 2 ** 30;

/** Only warnings: memory and thin disks may be overcommitted. */
function space(
  host: string,
  vms: readonly NewVm[],
  offer: ProxmoxOffer,
  { settings }: CheckedConfig,
): readonly ApiFinding[] {
  const warning = (path: string, message: string): ApiFinding[] => [
    { code: "SLU-M121", path, message, isWarning: true },
  ];
  const { maxmem, mem = 0 } = offer.hosts.find(({ node }) => node === host) ?? {};
  const memory = vms.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0) * 2 ** 20;
  const disk = vms.reduce((sum, { diskGiB }) => sum + diskGiB, 0) * gib;
  const avail = value(offer.storages[host])?.find(({ storage }: Storage) => storage === settings.storage)?.avail;
  return [
    ...(maxmem !== undefined && memory > maxmem - mem
      ? warning(
          "proxmox.sizes",
          `new VMs on ${host} take ${inGib(memory)} of memory, and ${inGib(maxmem - mem)} are free`,
        )
      : []),
    ...(avail !== undefined && disk > avail
      ? warning(
          "proxmox.sizes",
          `new VMs on ${host} have disks of ${inGib(disk)}, and ${settings.storage} has ${inGib(avail)} free`,
        )
      : []),
  ];
}

function inGib(bytes: number): string {
  return `${Math.round((bytes / gib) * 10) / 10} GiB`;
}

/** By name or tag, because one of them may have been changed by hand, which `up` fixes. */
function isOwn({ name, tags = "" }: Guest, cluster: string, node: string): boolean {
  return name === `${cluster}-${node}` || tags.split(/[;, ]/).includes(cluster);
}

function ids(
  { nodes, clusterName }: CheckedConfig,
  { guests, taken }: ProxmoxOffer,
  access: Pick<ApiAccess, "recorded" | "isSettled">,
): readonly ApiFinding[] {
  const [known, inUse] = [value(guests), value(taken)];
  return nodes.flatMap(({ name, vmId }) => {
    const path = nodeKey("vmId", name);
    const found = known?.find(({ vmid }) => vmid === vmId);
    if (access.recorded?.includes(`${vmId}`)) return [];
    if (found === undefined) {
      // An id that the list shows is of a VM that was made between the two calls, or that the token may not see.
      if (known === undefined || vmId === undefined || inUse?.includes(vmId) !== true) return [];
      const message = `${vmId} is in use, by a VM or container that the token may not see`;
      return [{ code: "SLU-M122", path, message }];
    }
    const kind = found.type === "lxc" ? "container" : "VM";
    const title = `the ${kind} ${found.name ?? ""} on ${found.node}`;
    if (!isOwn(found, clusterName, name)) {
      return [{ code: "SLU-M122", path, message: `${vmId} is the id of ${title}, which is not of this cluster` }];
    }
    return unrecorded({ id: `${vmId}`, title: `${title} (id ${vmId})`, path }, access);
  });
}

/** Sluice creates the pool. */
function pools(
  { clusterName, settings }: CheckedConfig,
  offer: ProxmoxOffer,
  { recorded }: Pick<ApiAccess, "recorded">,
): readonly ApiFinding[] {
  const found = value(offer.pools)?.find(({ poolid }) => poolid === settings.pool);
  if (found === undefined || found.comment === poolComment(clusterName) || recorded?.includes(found.poolid)) return [];
  const message = `there is a pool '${found.poolid}' already, which is not of this cluster`;
  // Where the state is not known, its comment may only have been changed by hand.
  return [{ code: "SLU-M122", path: "proxmox.pool", message, isWarning: recorded === undefined }];
}

function privileges(config: CheckedConfig, offer: ProxmoxOffer): readonly ApiFinding[] {
  const held = value(offer.privileges);
  if (held === undefined) return [];
  const missing = missingPrivileges(privilegeNeeds(config, hasVolumes(config)), held);
  return [...missing].map(([paths, names]) => ({
    code: "SLU-M123",
    path: "proxmoxve:apiToken",
    message: `the token does not have ${names.join(", ")} on ${paths}`,
  }));
}
