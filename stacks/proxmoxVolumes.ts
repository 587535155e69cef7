// What the driver for volumes needs of Proxmox: an account, and to be told where each node is.
import type * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../components/machines/machine.ts";
import { ProxmoxCsiAccess } from "../components/machines/proxmoxCsiAccess.ts";
import type { ProxmoxCsiAccount } from "../components/platform/proxmoxCsi.ts";
import { hasCsi } from "./platformParts.ts";
import type { ClusterConfig } from "./schema.ts";

/** Undefined where the environment has no volumes of Proxmox. */
export function proxmoxVolumes(
  config: ClusterConfig,
  machines: readonly Machine[],
  opts: pulumi.ComponentResourceOptions,
): ProxmoxCsiAccount | undefined {
  const { proxmox, clusterName } = config;
  if (proxmox === undefined || !hasCsi(config)) return undefined;
  const { endpoint, insecure, region } = proxmox;
  const { tokenId, tokenSecret } = new ProxmoxCsiAccess(
    `${clusterName}-csi-access`,
    {
      clusterName,
      storage: proxmox.volumes.storage ?? proxmox.storage,
      vms: config.nodes.flatMap(({ name, vmId }) => {
        const made = machines.find((machine) => machine.name === name);
        return made === undefined || vmId === undefined ? [] : [{ vmId, machineId: made.machineId }];
      }),
    },
    opts,
  );
  return { endpoint, insecure, region, tokenId, tokenSecret };
}
