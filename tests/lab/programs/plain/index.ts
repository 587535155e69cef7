// One control plane and one worker behind a load balancer, as a user writes it who has only the providers.
// It shares nothing with Sluice: what is tested with it is the lab.
import * as hcloud from "@pulumi/hcloud";
import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";

const config = new pulumi.Config();
const talosVersion = config.require("talosVersion");
/** Who may reach the nodes. */
const operator = config.require("operator");

// The API's address and token are in environment variables, from which the provider always reads them.
const image = hcloud.getImageOutput({
  withSelector: `os=talos,version=${talosVersion}`,
  withArchitecture: "x86",
  mostRecent: true,
});

const network = new hcloud.Network("net", { name: "net", ipRange: "10.0.0.0/16" });
const subnet = new hcloud.NetworkSubnet("nodes", {
  networkId: network.id.apply(Number),
  type: "cloud",
  networkZone: "eu-central",
  ipRange: "10.0.1.0/24",
});
const firewall = new hcloud.Firewall("operator", {
  name: "operator",
  rules: ["6443", "50000"].map((port) => ({ direction: "in", protocol: "tcp", port, sourceIps: [operator] })),
});
const spread = new hcloud.PlacementGroup("spread", { name: "spread", type: "spread" });

const balancer = new hcloud.LoadBalancer("api", { name: "api", loadBalancerType: "lb11", location: "fsn1" });
const balancerId = balancer.id.apply(Number);
const inNetwork = new hcloud.LoadBalancerNetwork("api", {
  loadBalancerId: balancerId,
  subnetId: subnet.id,
  ip: "10.0.1.5",
});
new hcloud.LoadBalancerService("api", {
  loadBalancerId: balancer.id,
  protocol: "tcp",
  listenPort: 6443,
  destinationPort: 6443,
});

const nodes = (
  [
    { name: "cp-1", type: "controlplane", ip: "10.0.1.11" },
    { name: "w-1", type: "worker", ip: "10.0.1.21" },
  ] as const
).map(({ name, type, ip }) => ({
  name,
  type,
  server: new hcloud.Server(
    name,
    {
      name,
      serverType: "cx33",
      image: image.apply(({ id }) => String(id)),
      location: "fsn1",
      labels: { type },
      placementGroupId: spread.id.apply(Number),
      firewallIds: [firewall.id.apply(Number)],
      networks: [{ networkId: network.id.apply(Number), ip }],
    },
    { dependsOn: [subnet] },
  ),
}));

new hcloud.LoadBalancerTarget(
  "control-planes",
  { type: "label_selector", loadBalancerId: balancerId, labelSelector: "type=controlplane", usePrivateIp: true },
  { dependsOn: [inNetwork] },
);

const endpoint = pulumi.interpolate`https://${balancer.ipv4}:6443`;
const secrets = new talos.machine.Secrets("plain", { talosVersion: `v${talosVersion}` });
const applied = nodes.map(({ name, type, server }) => {
  const { machineConfiguration } = talos.machine.getConfigurationOutput({
    clusterName: "plain",
    clusterEndpoint: endpoint,
    machineType: type,
    machineSecrets: secrets.machineSecrets,
    talosVersion: `v${talosVersion}`,
    docs: false,
    examples: false,
  });
  return new talos.machine.ConfigurationApply(name, {
    clientConfiguration: secrets.clientConfiguration,
    machineConfigurationInput: machineConfiguration,
    node: server.ipv4Address,
  });
});

const [first] = nodes;
const node = first?.server.ipv4Address ?? "";
const clientConfiguration = secrets.clientConfiguration;
const bootstrap = new talos.machine.Bootstrap("plain", { clientConfiguration, node }, { dependsOn: applied });
const access = new talos.cluster.Kubeconfig("plain", { clientConfiguration, node }, { dependsOn: [bootstrap] });

export const kubeconfig = access.kubeconfigRaw;
export const addresses = nodes.map(({ server }) => server.ipv4Address);
