import { addressPlan, isUnicastMac } from "../../components/network/addressPlan.ts";
import { rule } from "./rule.ts";

/** What may name one node only, as it stands in the node's entry. */
const identities = {
  name: "is also the name of",
  address: "is also the address of",
  mac: "is also the MAC of",
  vmId: "is also the VM id of",
  uuid: "is also the UUID of",
} as const;

/** S2.4: every node has a name, address, MAC, VM id and UUID of its own. */
export const nodeIdentity = rule(["clusterName", "platform", "network", "nodes"], function* (config) {
  const plan = addressPlan(config);
  for (const [index, node] of plan.entries()) {
    const earlier = plan.slice(0, index);
    for (const [key, clash] of Object.entries(identities) as [keyof typeof identities, string][]) {
      // Two nodes of one name also derive one MAC; the name is what has to change.
      const twin = earlier.findIndex(
        (other) => other[key] === node[key] && (key !== "mac" || other.name !== node.name),
      );
      if (node[key] === undefined || twin === -1) continue;
      yield {
        path: `nodes[${index}].${key}`,
        message: `${node[key]} ${clash} nodes[${twin}] (${plan[twin]?.name}); every node needs its own`,
      };
    }
  }
});

/** Two nodes that are reached at one place would be one machine with two configs. */
export const nodeReach = rule(["nodes"], function* ({ nodes }) {
  const places = nodes.map(({ reach, address }) => reach ?? address);
  for (const [index, { reach }] of nodes.entries()) {
    const twin = places.findIndex((place, other) => other !== index && place === reach);
    if (reach === undefined || twin === -1 || (nodes[twin]?.reach !== undefined && twin > index)) continue;
    yield {
      path: `nodes[${index}].reach`,
      message: `${reach} is also where nodes[${twin}] (${nodes[twin]?.name}) is reached; every node needs its own`,
    };
  }
});

/** A MAC of a group, or none at all, is no identity: a NIC with it gets no frames of its own. */
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

/** Servers and VMs are called `<cluster>-<node>`, which has to fit a DNS label. */
export const machineNames = rule(["clusterName", "platform", "nodes"], function* ({ clusterName, platform, nodes }) {
  if (platform === "existing") return;
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
