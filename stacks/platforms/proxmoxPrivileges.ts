// The privileges that a token needs to create an environment's VMs, on the paths where Proxmox checks them. docs/proxmox.md
import { vmHost } from "../../components/machines/proxmox/vmHost.ts";
import type { CheckedConfig } from "./proxmoxCheck.ts";

export interface Need {
  readonly privileges: readonly string[];
  /** Each privilege on one of these. */
  readonly paths: readonly string[];
  /** What does as well. */
  readonly instead?: Need;
}

const vmPrivileges = [
  ...["VM.Allocate", "VM.Audit", "VM.PowerMgmt", "VM.Config.CPU", "VM.Config.Disk"],
  ...["VM.Config.HWType", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options"],
];

export function privilegeNeeds(config: CheckedConfig, withVolumes: boolean): readonly Need[] {
  const { settings, nodes, network } = config;
  const { storage, imageStorage, pool, bridge, hosts } = settings;
  const vlan = network.vlan?.mode === "access" ? `/${network.vlan.tag}` : "";
  // What a pool's members may be done with is checked there too.
  const ofPool = pool === undefined ? [] : [`/pool/${pool}`];
  const ofSeed = network.addressing === "nocloud" ? ["VM.Config.CDROM"] : [];
  return [
    ...nodes.map(({ vmId }) => ({ privileges: [...vmPrivileges, ...ofSeed], paths: [`/vms/${vmId}`, ...ofPool] })),
    { privileges: ["Datastore.AllocateSpace"], paths: [`/storage/${storage}`] },
    { privileges: ["Datastore.AllocateTemplate"], paths: [`/storage/${imageStorage}`] },
    { privileges: ["SDN.Use"], paths: [`/sdn/zones/localnetwork/${bridge}${vlan}`] },
    // The order in which VMs start with their host.
    { privileges: ["Sys.Modify"], paths: ["/"] },
    ...[...new Set(nodes.map((node) => vmHost(node, hosts)))].map((host) => ({
      privileges: ["Sys.AccessNetwork"],
      paths: [`/nodes/${host}`],
      instead: { privileges: ["Sys.Audit", "Sys.Modify"], paths: ["/"] },
    })),
    ...(pool === undefined ? [] : [{ privileges: ["Pool.Allocate"], paths: ofPool }]),
    ...(withVolumes
      ? [
          { privileges: ["Sys.Modify"], paths: ["/access"] },
          { privileges: ["User.Modify"], paths: ["/access/groups"] },
          { privileges: ["Realm.AllocateUser"], paths: ["/access/realm/pve"] },
        ]
      : []),
  ];
}

export function pathsOf(needs: readonly Need[]): readonly string[] {
  return [
    ...new Set(needs.flatMap(({ paths, instead }) => [...paths, ...(instead === undefined ? [] : instead.paths)])),
  ];
}

/** The missing privileges, each with the paths on which they are missing. */
export function missingPrivileges(
  needs: readonly Need[],
  held: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> {
  const missing = ({ privileges, paths }: Need) =>
    privileges.filter((one) => !paths.some((path) => held[path]?.includes(one)));
  const found = needs.flatMap((need) => {
    const { instead, paths } = need;
    const isMet = instead !== undefined && missing(instead).length === 0;
    return isMet ? [] : missing(need).map((privilege) => ({ privilege, path: paths[0] ?? "" }));
  });
  const byPaths = new Map<string, string[]>();
  for (const [privilege, all] of Map.groupBy(found, ({ privilege }) => privilege)) {
    const paths = all.map(({ path }) => path).join(", ");
    byPaths.set(paths, [...(byPaths.get(paths) ?? []), privilege]);
  }
  return byPaths;
}
