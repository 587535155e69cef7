// Names that Proxmox knows, and those that no VM of Talos can have.
import { type Catalogue, catalogueFault } from "../base/catalogue.ts";
import { rulesOn } from "../base/rule.ts";
import type { ProxmoxConfig } from "./proxmoxRules.ts";

const rule = rulesOn<ProxmoxConfig>();

const variants = (name: string, ...suffixes: string[]) => [name, ...suffixes.map((suffix) => `${name}-${suffix}`)];

/** Those that the plugin accepts, which knows fewer than Proxmox, without those that Talos cannot run on. tests/plugins/names.test.ts compares them. */
export const cpus: Catalogue = {
  kind: "a CPU type of Proxmox",
  known: [
    ...["x86-64-v2-AES", "host", "max", "x86-64-v2", "x86-64-v3", "x86-64-v4"],
    ...variants("Nehalem", "IBRS"),
    ...variants("Westmere", "IBRS"),
    ...variants("SandyBridge", "IBRS"),
    ...variants("IvyBridge", "IBRS"),
    ...variants("Haswell", "IBRS", "noTSX", "noTSX-IBRS"),
    ...variants("Broadwell", "IBRS", "noTSX", "noTSX-IBRS"),
    ...variants("Skylake-Client", "IBRS", "noTSX-IBRS", "v4"),
    ...variants("Skylake-Server", "IBRS", "noTSX-IBRS", "v4", "v5"),
    ...variants("Cascadelake-Server", "noTSX", "v2", "v4", "v5"),
    ...variants("Cooperlake", "v2"),
    ...variants("Icelake-Client", "noTSX"),
    ...variants("Icelake-Server", "noTSX", "v3", "v4", "v5", "v6"),
    "SapphireRapids",
    ...["KnightsMill", "Opteron_G4", "Opteron_G5"],
    ...variants("EPYC", "IBPB", "v3", "v4", "Genoa"),
    ...variants("EPYC-Rome", "v2", "v3", "v4"),
    "EPYC-Milan",
  ],
  form: /^[A-Za-z][A-Za-z0-9_.-]*$/,
  refusesNear: true,
};

/** Older than x86-64-v2, which Talos is compiled for: its kernel would not start. */
export const tooOld =
  /^(kvm(32|64)|qemu(32|64)|486|pentium[23]?|athlon|phenom|core(2)?duo|Conroe|Penryn|Opteron_G[123])$/i;

/** Names that can only be typing errors, or that Proxmox' API refuses after the pool was created. */
export const proxmoxNames = rule(["settings"], function* ({ settings: { hosts, bridge, storage, imageStorage, vm } }) {
  for (const [index, host] of hosts.entries()) {
    if (/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(host) && !/^\d+$/.test(host)) continue;
    yield {
      path: `proxmox.hosts[${index}]`,
      message: `'${host}' is not the name of a host: it must be the name that Proxmox shows for the node, such as pve, not an address, a URL or a DNS name`,
    };
  }
  if (/^vmbr\D*$/.test(bridge) || !/^[A-Za-z][\w.-]{0,14}$/.test(bridge)) {
    yield { path: "proxmox.bridge", message: `'${bridge}' is not the name of a bridge, such as vmbr0` };
  }
  for (const [path, name] of [
    ["proxmox.storage", storage],
    ["proxmox.imageStorage", imageStorage],
  ] as const) {
    if (!/^[A-Za-z][\w.-]*[A-Za-z0-9]$/.test(name)) {
      yield { path, message: `'${name}' is not the name of a storage, such as local-lvm` };
    }
  }
  if (tooOld.test(vm.cpu)) {
    yield {
      path: "proxmox.vm.cpu",
      message: `'${vm.cpu}' is older than x86-64-v2, without which Talos does not start: use x86-64-v2-AES, or host`,
    };
    return;
  }
  if (vm.cpu.startsWith("custom-") || cpus.known.includes(vm.cpu)) return;
  const notAccepted = `'${vm.cpu}' is not a CPU type that the Proxmox plugin accepts: use host, x86-64-v2-AES, or a model of your own, custom-<name>`;
  yield { path: "proxmox.vm.cpu", message: catalogueFault(cpus, vm.cpu) ?? notAccepted };
});

/** Sizes whose number belongs to another unit. */
export const proxmoxSizes = rule(["settings", "nodes"], function* ({ settings: { sizes }, nodes }) {
  const all = [
    { path: "proxmox.sizes.controlplane", size: sizes.controlplane },
    { path: "proxmox.sizes.worker", size: sizes.worker },
    ...nodes.map(({ size }, index) => ({ path: `nodes[${index}].size`, size })),
  ];
  for (const { path, size } of all) {
    if (size?.disk !== undefined && size.disk >= 10_240) {
      const meant = Math.round(size.disk / 1024);
      yield { path: `${path}.disk`, message: `is ${size.disk} GiB: the unit is GiB, did you mean ${meant}?` };
    }
    if (size?.memory !== undefined && size.memory >= 4_194_304) {
      const meant = Math.round(size.memory / (size.memory >= 2 ** 30 ? 2 ** 20 : 2 ** 10));
      yield { path: `${path}.memory`, message: `is ${size.memory} MiB: the unit is MiB, did you mean ${meant}?` };
    }
  }
});
