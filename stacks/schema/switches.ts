// The conditions that a patch may name in `when`.
import type { ClusterConfig } from "./clusterConfig.ts";

export const switches = {
  aggregatorRouting: ({ machine }) => machine.apiServer.aggregatorRouting,
  ciliumHostDNS: ({ machine }) => machine.ciliumHostDNS ?? machine.hostDNS.forwardKubeDNSToHost,
  disableSearchDomain: ({ network }) => network.disableSearchDomain,
  forwardKubeDNSToHost: ({ machine }) => machine.hostDNS.forwardKubeDNSToHost,
  hostDNS: ({ machine }) => machine.hostDNS.enabled,
  logShipping: ({ machine }) => machine.logShipping.enabled,
  resolveMemberNames: ({ machine }) => machine.hostDNS.resolveMemberNames,
  secureBoot: ({ image }) => image.secureBoot,
  staticAddressing: ({ network }) => network.addressing !== "dhcp",
  vip: ({ network }) => network.vip !== undefined,
  vlan: ({ network }) => network.vlan !== undefined,
} as const satisfies Record<string, (config: ClusterConfig) => boolean>;

export type Switch = keyof typeof switches;

/** Every switch, on or off as this configuration sets it. */
export function switchStates(config: ClusterConfig): Record<Switch, boolean> {
  const states = Object.entries(switches).map(([name, isOn]) => [name, isOn(config)]);
  return Object.fromEntries(states) as Record<Switch, boolean>; // the type of fromEntries has no keys
}
