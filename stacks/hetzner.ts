// The Hetzner platform: the only place that knows it. It gives the chain machines, and what their configs need to know of it.
import * as hcloud from "@pulumi/hcloud";
import * as pulumi from "@pulumi/pulumi";
import { HetznerImage } from "../components/images/hetznerImage.ts";
import { HetznerMachines, serverOf } from "../components/machines/hetznerMachines.ts";
import type { Machine } from "../components/machines/machine.ts";
import { MachineChanges } from "../components/machines/machineChanges.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import type { ConfigPatch } from "../components/talos/machineInput.ts";
import { hetznerToken } from "./hetznerToken.ts";
import type { PlatformMachines } from "./machines.ts";
import type { ClusterConfig } from "./schema.ts";

/** Where it is, the plugin and the snapshot's lookup read from HCLOUD_ENDPOINT themselves. */
export function deployHetzner(
  config: ClusterConfig,
  credentials: pulumi.Output<TalosCredentials>,
): PlatformMachines & Required<Pick<PlatformMachines, "hcloud">> {
  const { hetzner, clusterName } = config;
  if (hetzner === undefined) throw new Error("platform 'hetzner' has no settings"); // the shape of the config sees to them
  const token = hetznerToken(config);
  const provider = new hcloud.Provider(
    `${clusterName}-hetzner`,
    {
      token: pulumi.secret(token.value),
      // Doubling waits, as by default, find out late by as much again as it took.
      pollInterval: "500ms",
      pollFunction: "constant",
    },
    // Without a token of one's own, what the state has serves a preview.
    { ignoreChanges: token.isStandIn ? ["token"] : [] },
  );
  const image = new HetznerImage(`${clusterName}-image`, {
    talosVersion: config.talosVersion,
    schematic: config.image,
    architecture: config.image.architecture,
    factory: config.image.factory,
    location: hetzner.location,
    labels: hetzner.snapshot.labels,
    build: hetzner.snapshot.build,
    deadline: config.timeouts.images,
    token: token.value,
    isTokenStandIn: token.isStandIn,
  });
  const changes = new MachineChanges(
    clusterName,
    {
      machines: Object.fromEntries(
        config.nodes.map((node) => {
          const { name, role, address } = node;
          return [name, { role, address, ...serverOf(node, hetzner) }];
        }),
      ),
      place: { kind: "hetzner", cluster: clusterName },
      // A server's private address is the network's business.
      hasFixedAddresses: false,
      token: token.value,
      credentials,
      deadline: config.timeouts.preflight,
    },
    { ignoreChanges: token.isStandIn ? ["token"] : [] },
  );
  const servers = new HetznerMachines(
    clusterName,
    {
      ...hetzner,
      clusterName,
      nodes: config.nodes,
      nodeCidr: config.network.nodeCidr,
      image: image.image,
      protect: config.protect,
      changes,
    },
    { provider },
  );
  return {
    machines: servers.machines,
    ready: [servers],
    endpoint: endpoint(config, servers),
    patches: Object.fromEntries(servers.machines.map((machine) => [machine.name, patches(machine, servers)])),
    hcloud: { token: token.value, network: servers.network, keepToken: token.isStandIn },
  };
}

/**
 * What the configuration says, else the load balancer where it serves the world, else the first control plane by name: its firewall lets in
 * who is allowed, and its certificate has its own addresses. The load balancer's private address is reached by nodes only.
 */
function endpoint({ endpoint: named }: ClusterConfig, { machines, publicApi }: HetznerMachines): pulumi.Output<string> {
  if (named !== undefined) return pulumi.output(named);
  const first = machines.find(({ role }) => role === "controlplane");
  const own = publicApi ?? first?.reach;
  if (own === undefined) throw new Error("there is no control plane"); // a rule says it before
  return own;
}

function patches({ role, providerId }: Machine, { publicApi }: HetznerMachines) {
  const certSANs = role === "controlplane" ? publicApi : undefined;
  return pulumi.all([providerId, certSANs]).apply(([id, name]): readonly ConfigPatch[] => [
    // The server is called <cluster>-<node> and the node is not, so the cloud controller would not find the one by the other's name.
    { machine: { kubelet: { extraArgs: { "provider-id": id } } } },
    ...(name === undefined ? [] : [{ cluster: { apiServer: { certSANs: [name] } } }]),
  ]);
}
