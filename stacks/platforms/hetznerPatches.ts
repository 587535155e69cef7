import type { Role } from "../../components/model/role.ts";
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";

/** What of a machine config follows from the server, and from the load balancer's public address. */
export function hetznerPatches(
  { role, providerId }: { readonly role: Role; readonly providerId: string | undefined },
  publicApi: string | undefined,
): readonly ConfigPatch[] {
  return [
    // The server is called <cluster>-<node>, so the cloud controller would not find it by the node's name.
    { machine: { kubelet: { extraArgs: { "provider-id": providerId } } } },
    ...(role !== "controlplane" || publicApi === undefined
      ? []
      : [{ cluster: { apiServer: { certSANs: [publicApi] } } }]),
  ];
}
