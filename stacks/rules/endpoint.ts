import { findEndpoint } from "../../components/network/endpoint.ts";
import { rule } from "./rule.ts";

/** Clients need one address that stands for all control planes. */
export const endpointKnown = rule(["endpoint", "network", "hetzner", "nodes"], function* (config) {
  const count = config.nodes.filter((node) => node.role === "controlplane").length;
  if (count > 1 && findEndpoint(config) === undefined) {
    yield {
      path: "endpoint",
      message: `is missing, and nothing stands for all ${count} control planes: set network.vip, hetzner.loadBalancer.address, or endpoint to a name that resolves to them`,
    };
  }
});
