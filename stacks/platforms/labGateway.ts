import type { NetworkSettings } from "../../components/model/settings/network.ts";
import { firstHost } from "../../components/network/cidr.ts";

/** The router of the nodes' network. If an environment sets none, which is possible with DHCP, it has the first address. */
export function gatewayOf({ gateway, nodeCidr }: Pick<NetworkSettings, "gateway" | "nodeCidr">): string {
  return gateway ?? firstHost(nodeCidr);
}
