import { rule } from "./rule.ts";

/** etcd runs on the control planes and decides by majority. */
export const controlPlaneCount = rule(["nodes"], function* ({ nodes }) {
  const count = nodes.filter((node) => node.role === "controlplane").length;
  if (count === 0) {
    yield { path: "nodes", message: "no node has the role controlplane: a cluster needs 1, better 3" };
  } else if (count % 2 === 0) {
    yield {
      path: "nodes",
      message: `${count} control planes can lose no more nodes than ${count - 1} (etcd decides by majority): use ${count - 1} or ${count + 1}`,
    };
  }
});

/** Somewhere the pods have to run, CoreDNS first. */
export const schedulable = rule(["machine", "nodes"], function* ({ machine, nodes }) {
  if (machine.scheduleOnControlPlanes === false && nodes.every((node) => node.role === "controlplane")) {
    yield {
      path: "machine.scheduleOnControlPlanes",
      message: "is false, and there is no worker: no node would run pods; leave it out, or add a worker",
    };
  }
});
