import { addressPlan, isUnicastMac } from "../../components/network/addressPlan.ts";
import { rule } from "./rule.ts";

/** S2.4: what must be unique to a node; some platforms have more, such as the VM's id. */
export const nodeIdentity = rule(["clusterName", "platform", "network", "nodes"], function* (config) {
  const unique = Object.entries(config.platform.machineTraits).filter(([, { isUnique }]) => isUnique);
  const identities: readonly (readonly [key: string, words: string])[] = [
    ["name", "name"],
    ["address", "address"],
    ["mac", "MAC"],
    ...unique.map(([key, { words }]) => [key, words] as const),
    ["uuid", "UUID"],
  ];
  const macs = addressPlan(config).map(({ mac }) => mac);
  const nodes = config.nodes.map((node, index): Readonly<Record<string, unknown>> => ({ ...node, mac: macs[index] }));
  for (const [index, node] of nodes.entries()) {
    const earlier = nodes.slice(0, index);
    for (const [key, words] of identities) {
      // Two nodes with one name also have one derived MAC; it is the name that has to change.
      const twin = earlier.findIndex(
        (other) => other[key] === node[key] && (key !== "mac" || other.name !== node.name),
      );
      if (node[key] === undefined || twin === -1) continue;
      yield {
        path: `nodes[${index}].${key}`,
        message: `${node[key]} is also the ${words} of nodes[${twin}] (${nodes[twin]?.name}); every node needs its own`,
      };
    }
  }
});

/** A multicast MAC, or one of zeros, identifies no NIC. */
export const unicastMacs = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { mac }] of nodes.entries()) {
    if (mac !== undefined && !isUnicastMac(mac)) {
      yield {
        path: `nodes[${index}].mac`,
        message: `${mac} is not the MAC of a single interface: the first byte must be even, and not all bytes 0`,
      };
    }
  }
});

/** Servers and VMs are called `<cluster>-<node>`, which must be a DNS label. */
export const machineNames = rule(["clusterName", "platform", "nodes"], function* ({ clusterName, platform, nodes }) {
  if (!platform.createsMachines) return;
  for (const [index, { name }] of nodes.entries()) {
    const machineName = `${clusterName}-${name}`;
    if (machineName.length > 63) {
      yield {
        path: `nodes[${index}].name`,
        message: `the machine would be called ${machineName}, ${machineName.length} characters: shorten clusterName or the node's name, 63 is the limit`,
      };
    }
  }
});
