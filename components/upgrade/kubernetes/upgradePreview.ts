// What a preview says of a Kubernetes upgrade, from the state and the inputs alone.
import type { Note } from "../../engine/resourceProvider.ts";
import type { Role } from "../../model/role.ts";
import type { Parallel } from "../../talos/nodes/lanes.ts";
import { kubeletSteps } from "./upgradeOrder.ts";

export interface PlannedUpgrade {
  readonly from: string;
  readonly to: string;
  readonly nodes: readonly { readonly name: string; readonly role: Role }[];
  readonly parallel: Parallel;
  /** How many seconds the last upgrade of each node took. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** In the order in which components restart. */
export function upgradeNote({ from, to, nodes, parallel, seconds }: PlannedUpgrade): Note {
  const controlPlanes = nodes.filter(({ role }) => role === "controlplane");
  const steps = kubeletSteps(
    nodes.map((node) => ({ node })),
    parallel,
  );
  const kubelets = steps.map(({ nodes: all, lanes }) => {
    const names = all.map(({ node }) => node.name).join(", ");
    return lanes > 1 ? `${names} (${lanes} at a time)` : names;
  });
  const lines = [
    "the images are pulled on all nodes",
    `${names(controlPlanes)}, one at a time: kube-apiserver restarts, then kube-controller-manager and kube-scheduler`,
    `kubelets restart: ${kubelets.join(", then ")}`,
    "the manifests of Talos are applied",
  ];
  const heading = `Kubernetes ${from} -> ${to}, without a reboot, in this order${timeWords(nodes, seconds)}`;
  return { text: [heading, ...lines.map((line, at) => `  ${at + 1}. ${line}`)].join("\n"), as: "info" };
}

function names(nodes: PlannedUpgrade["nodes"]): string {
  return nodes.map(({ name }) => name).join(", ");
}

/** From what the last upgrade took; for a node that was not there, as long as the slowest of its role. */
function timeWords(nodes: PlannedUpgrade["nodes"], seconds: PlannedUpgrade["seconds"]): string {
  const times = nodes.map(({ name, role }) => {
    const known = nodes.flatMap((node) => (node.role === role ? (seconds[node.name] ?? []) : []));
    return seconds[name] ?? (known.length === 0 ? undefined : Math.max(...known));
  });
  if (times.some((time) => time === undefined)) return "; how long a node takes is not known yet";
  const all = times.reduce<number>((sum, time) => sum + (time ?? 0), 0);
  return `; about ${all < 90 ? `${Math.max(10, Math.round(all / 10) * 10)} s` : `${Math.round(all / 60)} min`}, as long as the last time`;
}
