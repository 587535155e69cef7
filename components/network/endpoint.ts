// The host that clients call the Kubernetes API by. It must outlive any single control plane, so it is only ever
// a control plane's own address where there is just the one.
import type { Role } from "../machines/node.ts";

/** The part of the configuration that the endpoint follows from. */
export interface EndpointArgs {
  readonly endpoint?: string | undefined;
  readonly network: { readonly vip?: string | undefined };
  readonly hetzner?: { readonly loadBalancer?: { readonly address: string } | undefined } | undefined;
  readonly nodes: readonly { readonly role: Role; readonly address: string }[];
}

/** `endpoint` if it is set, else the VIP, else the load balancer, else the only control plane; undefined where none of these is there. */
export function findEndpoint({ endpoint, network, hetzner, nodes }: EndpointArgs): string | undefined {
  const controlPlanes = nodes.filter((node) => node.role === "controlplane");
  const onlyOne = controlPlanes.length === 1 ? controlPlanes[0]?.address : undefined;
  return endpoint ?? network.vip ?? hetzner?.loadBalancer?.address ?? onlyOne;
}

/** The endpoint's host name or address, without scheme and port. */
export function controlPlaneEndpoint(args: EndpointArgs): string {
  const endpoint = findEndpoint(args);
  if (endpoint === undefined) {
    throw new Error(
      "no endpoint: set endpoint, network.vip or hetzner.loadBalancer.address, or keep to one control plane",
    );
  }
  return endpoint;
}
