import { isScheduledOnControlPlanes } from "../../components/talos/config/patches/scheduling.ts";
import { hasFlux } from "../parts/clusterParts.ts";
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
export const schedulable = rule(["machine", "nodes", "sealedSecrets", "flux"], function* (config) {
  const { machine, nodes, sealedSecrets } = config;
  if (machine.scheduleOnControlPlanes === false && nodes.every((node) => node.role === "controlplane")) {
    yield {
      path: "machine.scheduleOnControlPlanes",
      message: "is false, and there is no worker: no node would run pods; remove it, or add a worker",
    };
    return;
  }
  // Their pods tolerate no taints, unlike those of Cilium and CoreDNS.
  const parts = [...(sealedSecrets.enabled ? ["sealed-secrets"] : []), ...(hasFlux(config) ? ["Flux"] : [])];
  const hasOpenControlPlanes = isScheduledOnControlPlanes(config);
  const open = nodes.filter(({ role }) => role === "worker" || hasOpenControlPlanes);
  const isTainted = ({ taints }: { readonly taints: object }) =>
    Object.values(taints).some((taint) => /:No(Schedule|Execute)$/.test(taint));
  if (parts.length > 0 && open.length > 0 && open.every(isTainted)) {
    const names = open.map(({ name }) => name).join(", ");
    yield {
      path: "nodes",
      message: `each node that runs ordinary pods has a taint (${names}): ${parts.join(" and ")} would have no node to run on; leave one without a taint`,
    };
  }
});
