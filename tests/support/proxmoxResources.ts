// Every resource of a complete chain on Proxmox, for the included environment.
import { chainResources, release } from "./hetznerResources.ts";

/** `type name` of each, sorted; without providers. Addresses are in the images, and VM ids start at 300. */
export function proxmoxResources(name: string, nodes: readonly string[]): string[] {
  const access = `${name}-csi-access`;
  return [
    `sluice:images:ProxmoxImages ${name}-image`,
    `pulumi-nodejs:dynamic/images:FactorySchematic ${name}-image`,
    ...nodes.map((node) => `pulumi-nodejs:dynamic/images:FactorySchematic ${name}-image-${node}`),
    ...nodes.map((node) => `proxmoxve:download/file:File ${name}-image-${node}`),
    `sluice:machines:ProxmoxMachines ${name}`,
    ...nodes.map((node) => `proxmoxve:index/vmLegacy:VmLegacy ${name}-${node}`),
    `sluice:machines:ProxmoxCsiAccess ${access}`,
    ...["vms", "storage"].map((role) => `proxmoxve:index/roleLegacy:RoleLegacy ${access}-${role}`),
    `proxmoxve:index/userLegacy:UserLegacy ${access}-user`,
    ...[...nodes.keys()].map((index) => `proxmoxve:index/acl:Acl ${access}-on-${300 + index}`),
    `proxmoxve:index/acl:Acl ${access}-on-local-lvm`,
    `proxmoxve:user/token:Token ${access}-token`,
    ...release("ProxmoxCsi", `${name}-csi`),
    `kubernetes:core/v1:Secret ${name}-csi-config`,
    `pulumi-nodejs:dynamic/gates:VirtualAddress ${name}-virtual-address`,
    ...chainResources(name, { nodes, hasFlux: false }),
  ].sort();
}

export const homeNodes = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
