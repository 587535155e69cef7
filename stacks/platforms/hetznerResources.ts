// What the engine creates at Hetzner, and in the cluster for it.
import * as hcloud from "@pulumi/hcloud";
import * as pulumi from "@pulumi/pulumi";
import { HetznerImage } from "../../components/images/hetznerImage.ts";
import { HetznerMachines } from "../../components/machines/hetzner/hetznerMachines.ts";
import { serverOf } from "../../components/machines/hetzner/serverOf.ts";
import { contentHash } from "../../components/model/contentHash.ts";
import type { Machine } from "../../components/model/machine.ts";
import {
  cloudControllerManagerChart,
  HcloudCloudControllerManager,
} from "../../components/platform/hcloudCloudControllerManager.ts";
import { HcloudCsi } from "../../components/platform/hcloudCsi.ts";
import { HcloudSecret } from "../../components/platform/hcloudSecret.ts";
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";
import type { AccountToken } from "./accountToken.ts";
import { adoptedMachine } from "./adoptedMachine.ts";
import type { FoundMachines } from "./foundMachines.ts";
import { hetzner } from "./hetzner.ts";
import { hetznerPatches } from "./hetznerPatches.ts";
import type { HetznerConfig } from "./hetznerRules.ts";
import { hetznerToken } from "./hetznerToken.ts";
import type {
  AdoptedMachines,
  CloudController,
  CreateMachinesArgs,
  PlatformMachines,
  PlatformResources,
  ProvenSoftware,
} from "./platformResources.ts";

/** The plugin and the snapshot's lookup read the address of Hetzner's API from HCLOUD_ENDPOINT themselves. */
export function hetznerResources(config: HetznerConfig): PlatformResources {
  const token = hetznerToken(config);
  return {
    token,
    createMachines: (args) => createMachines(config, token, args),
    adoptMachines: (found) => adoptMachines(config, token, found),
  };
}

function hetznerProvider({ clusterName }: HetznerConfig, token: AccountToken): hcloud.Provider {
  return new hcloud.Provider(
    `${clusterName}-hetzner`,
    {
      token: pulumi.secret(token.value),
      // By default the intervals double, so the end of an action may be noticed only after twice its duration.
      pollInterval: "500ms",
      pollFunction: "constant",
    },
    // A preview without a token keeps the token of the state.
    { ignoreChanges: token.isPlaceholder ? ["token"] : [] },
  );
}

function adoptMachines(config: HetznerConfig, token: AccountToken, found: FoundMachines): AdoptedMachines {
  const { publicAddress } = found;
  const machines = config.nodes.map((node) => adoptedMachine(node, found));
  const publicApi = publicAddress === undefined ? undefined : pulumi.output(publicAddress);
  return {
    provider: hetznerProvider(config, token),
    platform: {
      machines,
      ready: [],
      publicAddress: publicApi,
      patches: Object.fromEntries(machines.map((machine) => [machine.name, patches(machine, publicApi)])),
    },
  };
}

function createMachines(
  config: HetznerConfig,
  token: AccountToken,
  { guard, hasVolumes }: CreateMachinesArgs,
): PlatformMachines {
  const { settings, clusterName } = config;
  const provider = hetznerProvider(config, token);
  const image = new HetznerImage(`${clusterName}-image`, {
    talosVersion: config.talosVersion,
    schematic: config.image,
    architecture: config.image.architecture,
    factory: config.image.factory,
    location: settings.location,
    labels: settings.snapshot.labels,
    build: settings.snapshot.build,
    servers: Object.fromEntries(
      config.nodes.map((node) => [`${clusterName}-${node.name}`, serverOf(node, settings).location]),
    ),
    deadlineSeconds: config.timeouts.images,
    token: token.value,
    isTokenPlaceholder: token.isPlaceholder,
  });
  const servers = new HetznerMachines(
    clusterName,
    {
      ...settings,
      clusterName,
      nodes: config.nodes,
      nodeCidr: config.network.nodeCidr,
      image: image.image,
      protect: config.protect,
      guard,
    },
    { provider },
  );
  const { machines, publicApi, network } = servers;
  const hasController = settings.cloudControllerManager.enabled;
  return {
    machines,
    ready: [servers],
    publicAddress: publicApi,
    patches: Object.fromEntries(machines.map((machine) => [machine.name, patches(machine, publicApi)])),
    ...((hasController || hasVolumes) && {
      cloudAccount: {
        name: "hcloud",
        install: (name, opts) =>
          new HcloudSecret(name, { token: token.value, network, keepToken: token.isPlaceholder }, opts),
      },
    }),
    ...(hasController && { cloudController: cloudController(config, token, network) }),
    ...(hasVolumes && { volumes: volumes(config, token) }),
  };
}

function cloudController(config: HetznerConfig, token: AccountToken, network: pulumi.Output<string>): CloudController {
  const { settings } = config;
  const args = {
    ...settings.cloudControllerManager,
    podCidr: config.network.podCidr,
    networkZone: settings.networkZone,
  };
  return {
    name: "ccm",
    install: (name, opts) => new HcloudCloudControllerManager(name, { ...args, charts: config.charts.path }, opts),
    triggers: [contentHash(args)],
    secrets: [token.value, network],
    keepsSecrets: token.isPlaceholder,
    deployment: cloudControllerManagerChart.release,
    // The driver for volumes recognizes servers of the cloud by this label.
    labels: ["instance.hetzner.cloud/provided-by"],
  };
}

function volumes({ csi, charts }: HetznerConfig, token: AccountToken): ProvenSoftware {
  const version = csi.version ?? hetzner.volumes.version;
  return {
    name: "csi",
    install: (name, opts) => new HcloudCsi(name, { version, charts: charts.path }, opts),
    triggers: [version],
    secrets: [token.value],
    keepsSecrets: token.isPlaceholder,
  };
}

function patches({ role, providerId }: Machine, publicApi: pulumi.Output<string> | undefined) {
  return pulumi
    .all([providerId, publicApi])
    .apply(([id, address]): readonly ConfigPatch[] => hetznerPatches({ role, providerId: id }, address));
}
