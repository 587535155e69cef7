// The host of the Kubernetes API. It must outlive any single control plane, so it is a control plane's own address only if there is just one.
import type { NetworkSettings } from "../model/settings/network.ts";
import type { NodeSettings } from "../model/settings/node.ts";

/** The part of the configuration that the endpoint is derived from. */
export interface EndpointArgs {
  readonly endpoint?: string | undefined;
  readonly network: Pick<NetworkSettings, "vip">;
  /** The address at which nodes reach a load balancer in front of the control planes, if the platform has one. */
  readonly loadBalancer?: string | undefined;
  readonly nodes: readonly Pick<NodeSettings, "role" | "address">[];
}

/** `endpoint` if it is set, else the VIP, else the load balancer, else the only control plane; undefined without any of these. */
export function findEndpoint({ endpoint, network, loadBalancer, nodes }: EndpointArgs): string | undefined {
  const controlPlanes = nodes.filter((node) => node.role === "controlplane");
  const onlyOne = controlPlanes.length === 1 ? controlPlanes[0]?.address : undefined;
  return endpoint ?? network.vip ?? loadBalancer ?? onlyOne;
}

/** The endpoint's host name or address, without scheme and port. */
export function controlPlaneEndpoint(args: EndpointArgs): string {
  const endpoint = findEndpoint(args);
  if (endpoint === undefined) {
    throw new Error("no endpoint: set endpoint or network.vip, or keep to one control plane"); // a rule reports it before
  }
  return endpoint;
}
