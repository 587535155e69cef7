import { firstHost } from "../../components/network/cidr.ts";
import type { ClusterConfig } from "../../stacks/schema.ts";

/** The router of the nodes' network: where an environment names none, as it need not with DHCP, it has the first address. */
export function gatewayOf({ gateway, nodeCidr }: Pick<ClusterConfig["network"], "gateway" | "nodeCidr">): string {
  return gateway ?? firstHost(nodeCidr);
}
