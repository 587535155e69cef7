import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";
import { mergeValues, type Values } from "./mergeValues.ts";

export const ciliumChart: Chart = {
  name: "cilium",
  repository: "https://helm.cilium.io",
  release: "cilium",
  namespace: "kube-system",
};

export interface CiliumArgs extends ChartArgs {
  /** How many nodes the cluster has: a second operator would find no place on a cluster of one. */
  readonly nodeCount: number;
  /** Values of the chart's own, merged over those that Talos needs. https://docs.cilium.io/en/stable/helm-reference/ */
  readonly values: Values;
}

/** The cluster's network, in place of kube-proxy too. */
export class Cilium extends pulumi.ComponentResource {
  constructor(name: string, args: CiliumArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:Cilium", name, {}, opts);
    const values = mergeValues(talosValues(args.nodeCount), args.values);
    chartRelease(`${name}-release`, ciliumChart, { ...args, values }, { parent: this });
    this.registerOutputs();
  }
}

/** S4.6: what Cilium must be told on Talos. https://docs.siderolabs.com/kubernetes-guides/cni/deploying-cilium */
export function talosValues(nodeCount: number): Values {
  return {
    // Talos' controller manager gives every node its pod range.
    ipam: { mode: "kubernetes" },
    kubeProxyReplacement: true,
    // KubePrism: without kube-proxy nothing else leads to the API before Cilium runs, and it goes on when a control plane is lost.
    k8sServiceHost: "localhost",
    k8sServicePort: 7445,
    // Talos mounts it, and lets no pod do so.
    cgroup: { autoMount: { enabled: false }, hostRoot: "/sys/fs/cgroup" },
    // All that the chart asks for but SYS_MODULE: Talos lets no pod load kernel modules.
    securityContext: {
      capabilities: {
        ciliumAgent: [
          "CHOWN",
          "KILL",
          "NET_ADMIN",
          "NET_RAW",
          "IPC_LOCK",
          "SYS_ADMIN",
          "SYS_RESOURCE",
          "DAC_OVERRIDE",
          "FOWNER",
          "SETGID",
          "SETUID",
        ],
        cleanCiliumState: ["NET_ADMIN", "SYS_ADMIN", "SYS_RESOURCE"],
      },
    },
    // A changed value is in force when the gate behind it opens.
    rollOutCiliumPods: true,
    operator: { replicas: Math.min(2, nodeCount), rollOutPods: true },
  };
}
