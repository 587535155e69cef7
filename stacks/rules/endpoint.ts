import { isIPv4 } from "node:net";
import { broadcastAddress, networkAddress } from "../../components/network/cidr.ts";
import { findEndpoint } from "../../components/network/endpoint.ts";
import type { PlacedConfig } from "./addresses.ts";
import { rule } from "./rule.ts";

/** Clients need one address for all control planes. */
export const endpointKnown = rule(["endpoint", "network", "platform", "settings", "nodes"], function* (config) {
  const { platform, settings, nodes } = config;
  const count = nodes.filter((node) => node.role === "controlplane").length;
  const loadBalancer = platform.loadBalancer?.(settings)?.value;
  if (count > 1 && findEndpoint({ ...config, loadBalancer }) === undefined) {
    yield {
      path: "endpoint",
      message: `is missing, and there is no address for all ${count} control planes: set ${platform.sharedAddressKey}, or endpoint to a name that resolves to them`,
    };
  }
});

/** What is known not to lead to a control plane: nodes would wait for the API for as long as they may. */
export const endpointLeads = rule(["endpoint", "network", "platform", "settings", "nodes"], function* (config) {
  const { endpoint, network } = config;
  if (endpoint === undefined) return;
  const owner = isIPv4(endpoint) ? ownerOf(endpoint, config) : undefined;
  if (owner !== undefined) {
    yield {
      path: "endpoint",
      message: `${endpoint} is ${owner}, which does not lead to the Kubernetes API: remove it, or set a name or an address of the control planes`,
    };
  }
  if (endpoint === "localhost") {
    yield {
      path: "endpoint",
      message: "localhost leads every client to itself: set a name or an address of the control planes",
    };
  }
  if (/^kubernetes(\.default)?$|\.svc$/.test(endpoint)) {
    yield {
      path: "endpoint",
      message: `${endpoint} is a name that only pods resolve: use one that nodes and clients resolve`,
    };
  }
  if (endpoint === network.dnsDomain || endpoint.endsWith(`.${network.dnsDomain}`)) {
    yield {
      path: "endpoint",
      message: `${endpoint} is in network.dnsDomain ${network.dnsDomain}, which only pods resolve: use a name that nodes and clients resolve`,
    };
  }
});

function ownerOf(endpoint: string, config: PlacedConfig): string | undefined {
  const { network, platform, settings, nodes } = config;
  const worker = nodes.find(({ role, address }) => role === "worker" && address === endpoint);
  const taken = platform.takenAddresses?.(settings).find(({ value }) => value === endpoint);
  if (worker !== undefined) return `the address of the worker ${worker.name}`;
  if (taken !== undefined) return `the address of ${taken.title}`;
  if (endpoint === network.gateway) return "the address of the gateway";
  if (network.nameservers.includes(endpoint)) return "the address of a nameserver";
  if (endpoint === networkAddress(network.nodeCidr)) return "the address of the network itself";
  return endpoint === broadcastAddress(network.nodeCidr) ? "the network's broadcast address" : undefined;
}
