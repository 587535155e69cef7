import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/**
 * Lets Talos give a certificate for its API to pods of one namespace, with the role that may take etcd snapshots and nothing else: scheduled backups need it.
 * Only control planes issue such certificates.
 */
export function talosApiAccessPatches(
  { podAccess }: MachineConfigInput,
  { role }: MachineNode,
): readonly ConfigPatch[] {
  if (podAccess === undefined || role !== "controlplane") return [];
  const { namespace, role: allowed } = podAccess;
  const kubernetesTalosAPIAccess = {
    enabled: true,
    allowedRoles: [allowed],
    allowedKubernetesNamespaces: [namespace],
  };
  return [{ machine: { features: { kubernetesTalosAPIAccess } } }];
}
