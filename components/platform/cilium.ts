import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";
import { ChartVersion } from "./chartVersion.ts";
import { mergeValues, type Values } from "./mergeValues.ts";

export const ciliumChart: Chart = {
  name: "cilium",
  repository: "https://helm.cilium.io",
  release: "cilium",
  namespace: "kube-system",
};

export interface CiliumArgs extends ChartArgs {
  /** How many nodes the cluster has: a second operator could not be scheduled in a cluster of one. */
  readonly nodeCount: number;
  /** Values of the chart, merged over those that Talos needs. https://docs.cilium.io/en/stable/helm-reference/ */
  readonly values: Values;
}

/** The cluster's network, which also replaces kube-proxy. */
export class Cilium extends pulumi.ComponentResource {
  constructor(name: string, args: CiliumArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:Cilium", name, {}, opts);
    const values = mergeValues(talosValues(args.nodeCount), args.values);
    const version = new ChartVersion(
      `${name}-version`,
      { chart: ciliumChart.name, version: args.version, key: "cilium.version", ...compatibility(args.values) },
      { parent: this },
    );
    chartRelease(`${name}-release`, ciliumChart, { ...args, values }, { parent: this, dependsOn: [version] });
    this.registerOutputs();
  }
}

/** https://docs.cilium.io/en/stable/operations/upgrade/ */
function compatibility({ upgradeCompatibility }: Values): { readonly upgradeCompatibility?: string } {
  return upgradeCompatibility === undefined ? {} : { upgradeCompatibility: String(upgradeCompatibility) };
}

/** S4.6: the values that Cilium needs on Talos. https://docs.siderolabs.com/kubernetes-guides/cni/deploying-cilium */
export function talosValues(nodeCount: number): Values {
  return {
    // Talos' controller manager gives every node its pod range.
    ipam: { mode: "kubernetes" },
    kubeProxyReplacement: true,
    // KubePrism: without kube-proxy nothing else reaches the API before Cilium runs, and it survives the loss of a control plane.
    k8sServiceHost: "localhost",
    k8sServicePort: 7445,
    // Talos mounts it, and forbids pods to do so.
    cgroup: { autoMount: { enabled: false }, hostRoot: "/sys/fs/cgroup" },
    // All capabilities of the chart except SYS_MODULE: Talos forbids pods to load kernel modules.
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
    // So that a changed value is in effect when the next gate opens.
    rollOutCiliumPods: true,
    operator: { replicas: Math.min(2, nodeCount), rollOutPods: true },
  };
}
