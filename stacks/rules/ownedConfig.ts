// Parts of a machine config that follow from other keys. Rules check those, and other stages read them: a patch would bypass both.
import type { ConfigChange } from "../../components/talos/config/configDiff.ts";
import { mainDocument } from "../../components/talos/config/configDocuments.ts";

const fromSecrets = "the machine secrets are the same on all nodes, and a node with others could not join";
const fromImage =
  "the installer follows from talosVersion and image, and another one would drop extensions and kernel arguments";
const fromGates = "use machine.kubelet.featureGates and machine.apiServer.featureGates, which must match";
const fromName = "a node's name in Kubernetes is nodes[].name, by which gates wait for it";
const fromKubePrism = "Cilium reaches the Kubernetes API by KubePrism on port 7445";

/** Each path with what to do instead. */
export const ownedConfig: Readonly<Record<string, string>> = {
  "machine.type": "use nodes[].role",
  "machine.network.hostname": "use nodes[].name",
  "machine.nodeLabels": "use nodes[].labels",
  "machine.nodeTaints": "use nodes[].taints",
  "machine.install.disk": "use install.disk",
  "machine.install.diskSelector": "use install.diskSelector",
  "machine.install.wipe": "use install.wipe",
  "machine.install.extraKernelArgs": "use image.kernelArgs",
  "machine.install.grubUseUKICmdline": "use install.grubUseUKICmdline",
  "machine.install.image": fromImage,
  "machine.install.extensions": fromImage,
  "machine.features.hostDNS": "use machine.hostDNS",
  "machine.features.kubePrism": fromKubePrism,
  "machine.ca": fromSecrets,
  "machine.acceptedCAs": fromSecrets,
  "machine.token": fromSecrets,
  "machine.kubelet.extraArgs.feature-gates": fromGates,
  "machine.kubelet.extraArgs.node-labels": "use nodes[].labels",
  "machine.kubelet.extraArgs.register-with-taints": "use nodes[].taints",
  "machine.kubelet.extraArgs.hostname-override": fromName,
  "machine.kubelet.extraArgs.cluster-domain": "use network.dnsDomain",
  "machine.kubelet.registerWithFQDN": fromName,
  "machine.kubelet.skipNodeRegistration": "the gate NodesJoined waits for every node",
  "machine.kubelet.extraConfig.registerNode": "the gate NodesJoined waits for every node",
  "machine.kubelet.extraConfig.registerWithTaints": "use nodes[].taints",
  "machine.kubelet.extraConfig.featureGates": fromGates,
  "machine.kubelet.extraConfig.clusterDomain": "use network.dnsDomain",
  "cluster.ca": fromSecrets,
  "cluster.acceptedCAs": fromSecrets,
  "cluster.aggregatorCA": fromSecrets,
  "cluster.serviceAccount": fromSecrets,
  "cluster.aescbcEncryptionSecret": fromSecrets,
  "cluster.secretboxEncryptionSecret": fromSecrets,
  "cluster.etcd.ca": fromSecrets,
  "cluster.token": fromSecrets,
  "cluster.id": fromSecrets,
  "cluster.secret": fromSecrets,
  "cluster.clusterName": "use clusterName",
  "cluster.controlPlane.endpoint": "use endpoint",
  "cluster.controlPlane.localAPIServerPort":
    "the load balancer, the VIP and the gates expect the API server on port 6443",
  "cluster.apiServer.extraArgs.feature-gates": fromGates,
  "cluster.apiServer.extraArgs.enable-aggregator-routing": "use machine.apiServer.aggregatorRouting",
  "cluster.apiServer.extraArgs.service-cluster-ip-range": "use network.serviceCidr",
  "cluster.apiServer.certSANs": "use machine.apiServer.certSANs",
  "cluster.controllerManager.extraArgs.cluster-cidr": "use network.podCidr",
  "cluster.controllerManager.extraArgs.service-cluster-ip-range": "use network.serviceCidr",
  "cluster.network.podSubnets": "use network.podCidr",
  "cluster.network.serviceSubnets": "use network.serviceCidr",
  "cluster.network.dnsDomain": "use network.dnsDomain",
  "cluster.network.cni": "Cilium is the CNI, and two would conflict over every pod",
  "cluster.proxy": "Cilium does kube-proxy's work",
  "cluster.allowSchedulingOnControlPlanes": "use machine.scheduleOnControlPlanes",
};

/** Images whose tag is the version of Kubernetes. */
export const kubernetesImages = [
  "machine.kubelet.image",
  "cluster.apiServer.image",
  "cluster.controllerManager.image",
  "cluster.scheduler.image",
];

/** Config documents with which a patch would set the same. */
export const ownedDocuments: Readonly<Record<string, string>> = {
  HostnameConfig: "use nodes[].name",
  Layer2VIPConfig: "use network.vip",
};

/** What decides about a place of a machine config in place of a patch; undefined if a patch does. */
export function insteadOfPatch({ document, path }: Pick<ConfigChange, "document" | "path">): string | undefined {
  if (document !== mainDocument) return ownedDocuments[document.split(" ")[0] ?? ""];
  const place = path.join(".");
  const owner = Object.keys(ownedConfig).find(
    (key) => place === key || place.startsWith(`${key}.`) || key.startsWith(`${place}.`),
  );
  if (owner !== undefined) return ownedConfig[owner];
  return kubernetesImages.includes(place) ? "use kubernetesVersion" : undefined;
}
