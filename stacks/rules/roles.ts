import { rule } from "./rule.ts";

/** etcd runs on the control planes and needs a majority of them. */
export const controlPlaneCount = rule(["nodes"], function* ({ nodes }) {
  const count = nodes.filter((node) => node.role === "controlplane").length;
  if (count === 0) {
    yield {
      path: "nodes",
      message: "no node has the role controlplane: a cluster needs 1, and 3 to tolerate the loss of one",
    };
  } else if (count % 2 === 0) {
    yield {
      path: "nodes",
      message: `${count} control planes tolerate the loss of no more nodes than ${count - 1} do (etcd needs a majority): use ${count - 1} or ${count + 1}`,
    };
  }
});

/** Pods need a node to run on, those of CoreDNS first. */
export const schedulable = rule(["machine", "nodes"], function* ({ machine, nodes }) {
  if (machine.scheduleOnControlPlanes === false && nodes.every((node) => node.role === "controlplane")) {
    yield {
      path: "machine.scheduleOnControlPlanes",
      message: "is false, and there is no worker: no node would run pods; remove it, or add a worker",
    };
  }
});
