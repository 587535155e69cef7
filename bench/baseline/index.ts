// The cluster that `npm run bench` compares Sluice with: the same servers, machine configs and charts, by the providers alone. Helm waits for the pods of
// each chart, as it does by default; nothing else is proven. It is written to be fast, and shares nothing with Sluice.
import * as hcloud from "@pulumi/hcloud";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { stringify } from "yaml";

interface Node {
  readonly name: string;
  readonly role: "controlplane" | "worker";
  readonly address: string;
}

const config = new pulumi.Config();
const talosVersion = config.require("talosVersion");
const kubernetesVersion = config.require("kubernetesVersion");
const installer = config.require("installer");
/** Who may reach the nodes. */
const operator = config.require("operator");
/** A folder with the charts. */
const charts = config.require("charts");
const nodes = config.requireObject<readonly Node[]>("nodes");
const token = config.requireSecret("token");
const sealing = {
  certificate: config.requireSecret("sealedSecretsCertificate"),
  key: config.requireSecret("sealedSecretsKey"),
};
const balancerAddress = "10.0.1.5";

// The address of the cloud's API is in the environment variable that the provider reads.
const cloud = new hcloud.Provider("cloud", { token, pollInterval: "500ms", pollFunction: "constant" });
const onCloud = { provider: cloud };

const image = hcloud.getImageOutput(
  { withSelector: `os=talos,version=${talosVersion}`, withArchitecture: "x86", mostRecent: true },
  onCloud,
);
const network = new hcloud.Network("net", { name: "baseline", ipRange: "10.0.0.0/16" }, onCloud);
const subnet = new hcloud.NetworkSubnet(
  "nodes",
  { networkId: network.id.apply(Number), type: "cloud", networkZone: "eu-central", ipRange: "10.0.1.0/24" },
  onCloud,
);
const firewall = new hcloud.Firewall(
  "operator",
  {
    name: "operator",
    rules: ["6443", "50000"].map((port) => ({ direction: "in", protocol: "tcp", port, sourceIps: [operator] })),
  },
  onCloud,
);
const spread = new hcloud.PlacementGroup("spread", { name: "spread", type: "spread" }, onCloud);

const balancer = new hcloud.LoadBalancer(
  "api",
  { name: "baseline-api", loadBalancerType: "lb11", location: "fsn1" },
  onCloud,
);
const balancerId = balancer.id.apply(Number);
const attached = new hcloud.LoadBalancerNetwork(
  "api",
  { loadBalancerId: balancerId, subnetId: subnet.id, ip: balancerAddress },
  onCloud,
);
const service = new hcloud.LoadBalancerService(
  "api",
  {
    loadBalancerId: balancer.id,
    protocol: "tcp",
    listenPort: 6443,
    destinationPort: 6443,
    healthCheck: { protocol: "tcp", port: 6443, interval: 5, timeout: 5, retries: 2 },
  },
  { ...onCloud, dependsOn: [attached] },
);
new hcloud.LoadBalancerTarget(
  "control-planes",
  { type: "label_selector", loadBalancerId: balancerId, labelSelector: "role=controlplane", usePrivateIp: true },
  { ...onCloud, dependsOn: [service] },
);

const servers = nodes.map((node) => ({
  ...node,
  server: new hcloud.Server(
    node.name,
    {
      name: `baseline-${node.name}`,
      serverType: "cx23",
      image: image.apply(({ id }) => String(id)),
      location: "fsn1",
      labels: { role: node.role },
      placementGroupId: spread.id.apply(Number),
      firewallIds: [firewall.id.apply(Number)],
      networks: [{ subnetId: subnet.id, ip: node.address, aliasIps: [] }],
    },
    { ...onCloud, ignoreChanges: ["image"] },
  ),
}));

const secrets = new talos.machine.Secrets("baseline", { talosVersion: `v${talosVersion}` });
const { machineSecrets, clientConfiguration } = secrets;
const applied = servers.map(({ name, role, server }) => {
  const documents = pulumi
    .all([server.id, balancer.ipv4])
    .apply(([id, publicAddress]) => configPatches(name, role, id, publicAddress).map((patch) => stringify(patch)));
  const { machineConfiguration } = talos.machine.getConfigurationOutput({
    clusterName: "baseline",
    clusterEndpoint: `https://${balancerAddress}:6443`,
    machineType: role,
    machineSecrets,
    talosVersion: `v${talosVersion}`,
    kubernetesVersion,
    docs: false,
    examples: false,
    configPatches: documents,
  });
  return new talos.machine.ConfigurationApply(name, {
    clientConfiguration,
    machineConfigurationInput: machineConfiguration,
    node: server.ipv4Address,
  });
});

const node = servers.find(({ role }) => role === "controlplane")?.server.ipv4Address ?? "";
const bootstrap = new talos.machine.Bootstrap("baseline", { clientConfiguration, node }, { dependsOn: applied });
const access = new talos.cluster.Kubeconfig("baseline", { clientConfiguration, node }, { dependsOn: [bootstrap] });
export const kubeconfig = pulumi
  .all([access.kubeconfigRaw, balancer.ipv4])
  .apply(([text, address]) => text.replace(`https://${balancerAddress}:6443`, `https://${address}:6443`));

const cluster = new kubernetes.Provider("cluster", { kubeconfig, clusterIdentifier: secrets.id });
const inCluster = { provider: cluster };
const account = new kubernetes.core.v1.Secret(
  "hcloud",
  { metadata: { name: "hcloud", namespace: "kube-system" }, stringData: { token, network: network.name } },
  inCluster,
);
const cilium = release("cilium", "kube-system", {
  ipam: { mode: "kubernetes" },
  kubeProxyReplacement: true,
  k8sServiceHost: "localhost",
  k8sServicePort: 7445,
  cgroup: { autoMount: { enabled: false }, hostRoot: "/sys/fs/cgroup" },
  operator: { replicas: 2 },
});
const controller = release(
  "hcloud-cloud-controller-manager",
  "kube-system",
  {
    networking: { enabled: true, clusterCIDR: "10.244.0.0/16" },
    env: {
      HCLOUD_NETWORK_ROUTES_ENABLED: { value: "false" },
      HCLOUD_LOAD_BALANCERS_NETWORK_ZONE: { value: "eu-central" },
      HCLOUD_LOAD_BALANCERS_USE_PRIVATE_IP: { value: "true" },
    },
  },
  [account],
);
release("hcloud-csi", "kube-system", {}, [cilium, controller]);
const sealingKey = new kubernetes.core.v1.Secret(
  "sealing-key",
  {
    metadata: {
      name: "sealed-secrets-key-sample",
      namespace: "kube-system",
      labels: { "sealedsecrets.bitnami.com/sealed-secrets-key": "active" },
    },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": sealing.certificate, "tls.key": sealing.key },
  },
  inCluster,
);
const sealedSecrets = release(
  "sealed-secrets",
  "kube-system",
  { fullnameOverride: "sealed-secrets-controller", keyrenewperiod: "0" },
  [cilium, controller, sealingKey],
);
const namespace = new kubernetes.core.v1.Namespace("flux", { metadata: { name: "flux-system" } }, inCluster);
const flux = release(
  "flux2",
  "flux-system",
  {
    imageAutomationController: { create: false },
    imageReflectionController: { create: false },
    sourceWatcher: { create: false },
  },
  [namespace, sealedSecrets],
);
const root = { name: "flux-system", namespace: "flux-system" };
const source = new kubernetes.apiextensions.CustomResource(
  "source",
  {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "GitRepository",
    metadata: root,
    spec: { interval: "10s", url: config.require("git"), ref: { branch: "main" } },
  },
  { ...inCluster, dependsOn: [flux] },
);
new kubernetes.apiextensions.CustomResource(
  "root",
  {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: root,
    spec: {
      interval: "10m",
      path: "./clusters/lab",
      prune: true,
      wait: true,
      sourceRef: { kind: "GitRepository", name: root.name },
    },
  },
  { ...inCluster, dependsOn: [source] },
);

function release(chart: string, namespaceName: string, values: object, dependsOn: pulumi.Resource[] = []) {
  return new kubernetes.helm.v3.Release(
    chart,
    { name: chart, chart: `${charts}/${chart}`, namespace: namespaceName, values },
    { ...inCluster, dependsOn: [...applied, bootstrap, ...dependsOn] },
  );
}

/** What Talos needs for this network, this cloud, and Cilium without kube-proxy. */
function configPatches(name: string, role: Node["role"], id: string, publicAddress: string): readonly object[] {
  const isControlPlane = role === "controlplane";
  return [
    {
      machine: {
        install: { disk: "/dev/sda", image: installer },
        kubelet: { nodeIP: { validSubnets: ["10.0.1.0/24"] }, extraArgs: { "provider-id": `hcloud://${id}` } },
      },
      cluster: {
        network: { cni: { name: "none" } },
        proxy: { disabled: true },
        externalCloudProvider: { enabled: true },
        ...(isControlPlane && {
          apiServer: { certSANs: [publicAddress, balancerAddress] },
          etcd: { advertisedSubnets: ["10.0.1.0/24"] },
        }),
      },
    },
    { apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname: name },
  ];
}
