// What keeps a running cluster from being the one that the environment describes: its nodes, its etcd, its Nodes. Pure.
import { memberIsAt } from "../../components/talos/etcd/etcdMember.ts";
import type { ClusterLook, ExpectedNode, RunningNode } from "./lookAtCluster.ts";

/** Adoption ends with it, and nothing was written. */
export interface AdoptionFault {
  readonly where: string;
  readonly seen: string;
  readonly remedy: string;
}

export function clusterFaults(expected: readonly ExpectedNode[], look: ClusterLook): readonly AdoptionFault[] {
  return [...nodeFaults(look), ...etcdFaults(expected, look), ...kubernetesFaults(expected, look)];
}

/** Those that answer as nodes of this cluster. */
export function runningNodes({ nodes }: Pick<ClusterLook, "nodes">): readonly RunningNode[] {
  return nodes.filter((node) => node.kind === "runs");
}

function nodeFaults({ nodes }: ClusterLook): readonly AdoptionFault[] {
  return nodes.flatMap((node): readonly AdoptionFault[] => {
    const { name: where } = node;
    if (node.kind === "refused") {
      const remedy = node.isForeign
        ? "import the machine secrets of its cluster, or correct the entry of the node: npm run secrets -- import"
        : "every listed node has to run: correct its entry, or repair the node, or remove the entry";
      return [{ where, seen: node.why, remedy }];
    }
    const faults = node.identityFaults.map((seen) => ({ where, seen, remedy: "correct nodes[].mac or nodes[].uuid" }));
    if (node.hostname !== where) {
      faults.push({
        where,
        seen: `the node calls itself ${node.hostname}`,
        remedy: `set nodes[].name to ${node.hostname}`,
      });
    }
    return faults;
  });
}

function etcdFaults(expected: readonly ExpectedNode[], look: ClusterLook): readonly AdoptionFault[] {
  const controlPlanes = expected.filter(({ role }) => role === "controlplane");
  const running = runningNodes(look).flatMap((node) =>
    node.etcd === undefined ? [] : [{ name: node.name, ...node.etcd }],
  );
  if (running.length === 0) return [];
  const where = "etcd";
  if (running.every(({ isThere }) => !isThere)) {
    const remedy = "a cluster that was never bootstrapped is not adopted: npm run up bootstraps it";
    return [{ where, seen: "no control plane has an etcd", remedy }];
  }
  const members = running.find(({ isThere }) => isThere)?.members ?? [];
  const strangers = members.filter((member) => !controlPlanes.some(({ address }) => memberIsAt(member, address)));
  const missing = controlPlanes.filter(({ address }) => !members.some((member) => memberIsAt(member, address)));
  return [
    ...strangers.map(({ name, peerUrls }) => ({
      where,
      seen: `the member ${name} at ${peerUrls.join(", ")} is no control plane of the environment`,
      remedy: "add it to nodes, with the address of the member",
    })),
    ...missing.map(({ name, address }) => ({
      where,
      seen: `${name} is no member at ${address}`,
      remedy: "correct nodes[].address: it is the address that etcd advertises",
    })),
  ];
}

function kubernetesFaults(expected: readonly ExpectedNode[], { kubernetes }: ClusterLook): readonly AdoptionFault[] {
  const where = "Kubernetes";
  if (typeof kubernetes === "string") {
    return [
      { where, seen: `the API does not answer: ${kubernetes}`, remedy: "a cluster is adopted while its API answers" },
    ];
  }
  const names = kubernetes.nodes.map(({ metadata }) => metadata.name);
  const listed = expected.map(({ name }) => name);
  return [
    ...names
      .filter((name) => !listed.includes(name))
      .map((name) => ({
        where,
        seen: `the Node ${name} is not in the environment`,
        remedy: "add it to nodes, or delete the Node",
      })),
    ...listed
      .filter((name) => !names.includes(name))
      .map((name) => ({
        where,
        seen: `there is no Node ${name}`,
        remedy: "correct nodes[].name, or wait until the node has joined",
      })),
  ];
}
