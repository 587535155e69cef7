// Where clients find the Kubernetes API, and what has to be proven before they are told. Up to here everything goes to the first control plane.
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../components/machines/machine.ts";
import { kubernetesProvider } from "../components/platform/kubernetesProvider.ts";
import { KubeVip } from "../components/platform/kubeVip.ts";
import { changedOrFailed } from "../components/platform/leftAsItWas.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import type { Kubeconfig } from "../components/talos/kubeconfig.ts";
import type { ClusterGates } from "./gates.ts";
import type { ClusterConfig } from "./schema.ts";

export interface EndpointArgs {
  readonly config: ClusterConfig;
  readonly first: Machine;
  readonly access: Kubeconfig;
  readonly credentials: pulumi.Output<TalosCredentials>;
  /** Tells this cluster from any other, and is no secret. */
  readonly clusterIdentifier: pulumi.Input<string>;
  readonly gates: ClusterGates;
  /** What the first stage waits for. */
  readonly after: pulumi.Resource;
  /** What the cluster is, for the gates. */
  readonly ground: readonly pulumi.Input<string>[];
  /** With what the cluster goes. */
  readonly deletedWith: pulumi.Resource;
}

/** The VIP, where there is one: brought up, and proven to be this cluster's. What it returns is the last gate. */
export function deployEndpoint(args: EndpointArgs): pulumi.Resource {
  const { config, first, access, credentials, gates, after, ground } = args;
  const { vip, vipBy } = config.network;
  if (vip === undefined) return after;
  const own = pulumi.interpolate`https://${first.reach}:6443`;
  const kubeconfig = access.at(own);
  const prove = gates.onVirtualAddress(vip, credentials, kubeconfig);
  if (vipBy === "talos") return prove([after], ground);

  const serving = gates.onKubernetes(kubeconfig, ground).firstApi([after], [own, ...ground]);
  const kubeVip = deployKubeVip(args, { vip, kubeconfig, serving });
  const settings = [config.kubeVip.version, config.kubeVip.interface, kubeVipServices(config)];
  return prove([kubeVip], [JSON.stringify(settings), ...ground]);
}

function deployKubeVip(
  { config, clusterIdentifier, deletedWith }: EndpointArgs,
  stage: { readonly vip: string; readonly kubeconfig: pulumi.Input<string>; readonly serving: pulumi.Resource },
): KubeVip {
  const { clusterName, kubeVip } = config;
  const { vip: address, kubeconfig, serving } = stage;
  const provider = kubernetesProvider(
    `${clusterName}-first-kubernetes`,
    { kubeconfig, clusterIdentifier },
    { dependsOn: [serving] },
  );
  const behind = { provider, deletedWith, dependsOn: [serving], transformations: [changedOrFailed] };
  return new KubeVip(`${clusterName}-kube-vip`, { ...kubeVip, address, services: kubeVipServices(config) }, behind);
}

/** Undefined where it does not answer for addresses of Services. */
function kubeVipServices({ services }: Pick<ClusterConfig, "services">) {
  return services.announce === "kube-vip" ? { interface: services.interfaces[0] } : undefined;
}
