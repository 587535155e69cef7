import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { controlPlaneEndpoint, type EndpointArgs, findEndpoint } from "../../../components/network/endpoint.ts";
import { anyAddress } from "./ipv4.ts";

const three: EndpointArgs = {
  network: {},
  nodes: [
    { role: "controlplane", address: "10.0.0.11" },
    { role: "controlplane", address: "10.0.0.12" },
    { role: "controlplane", address: "10.0.0.13" },
    { role: "worker", address: "10.0.0.21" },
  ],
};
const loadBalancer = "10.0.0.5";

test.each<[string, EndpointArgs, string]>([
  ["the one that is set", { ...three, endpoint: "k8s.example.org", network: { vip: "10.0.0.20" } }, "k8s.example.org"],
  ["else the VIP", { ...three, network: { vip: "10.0.0.20" }, loadBalancer }, "10.0.0.20"],
  ["else the load balancer", { ...three, loadBalancer }, "10.0.0.5"],
  ["else the only control plane", { ...three, nodes: three.nodes.slice(2) }, "10.0.0.13"],
])("S4.4 the endpoint is %s", (_, args, expected) => {
  expect(controlPlaneEndpoint(args)).toBe(expected);
});

test("S4.4 several control planes alone have no endpoint", () => {
  expect(findEndpoint(three)).toBeUndefined();
  expect(() => controlPlaneEndpoint(three)).toThrow(
    "no endpoint: set endpoint or network.vip, or keep to one control plane",
  );
});

test("S4.2 no worker that is added anywhere changes the endpoint", () => {
  const anyArgs = fc.record({
    network: fc.record({ vip: fc.option(anyAddress, { nil: undefined }) }),
    nodes: fc.array(
      fc.record({ role: fc.constantFrom("controlplane" as const, "worker" as const), address: anyAddress }),
    ),
  });
  fc.assert(
    fc.property(anyArgs, anyAddress, fc.nat(5), (args, address, position) => {
      const nodes = args.nodes.toSpliced(position, 0, { role: "worker", address });
      expect(findEndpoint({ ...args, nodes })).toBe(findEndpoint(args));
    }),
  );
});
