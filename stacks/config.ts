// An environment's configuration, read once and checked whole before anything is created.
// This one module of the SDK, because the whole of it takes most of a second to load and `render` needs none.
import * as pulumiConfig from "@pulumi/pulumi/runtime/config.js";
import { decodeConfigValues, projectName, secrecyFaults } from "./configValues.ts";
import { ConfigError, type Fault } from "./fault.ts";
import { inOrder } from "./nodeOrder.ts";
import { addressesInside, sharedAddresses } from "./rules/addresses.ts";
import { nameservers, nicMacs, staticAddressing, vlanTrunk } from "./rules/addressing.ts";
import { endpointKnown } from "./rules/endpoint.ts";
import { gitCredentials, gitSource, sopsKey } from "./rules/gitOps.ts";
import {
  networkZone,
  privateNetwork,
  reachable,
  routerAddress,
  serverArchitecture,
  snapshotLabels,
  withoutLayer2,
} from "./rules/hetzner.ts";
import { doubledImageEntries } from "./rules/image.ts";
import { installDisk, kernelArguments } from "./rules/install.ts";
import { onLab } from "./rules/lab.ts";
import { certSANs, featureGates, hostResolver, kernelLogs } from "./rules/machineFeatures.ts";
import { machineNames, nodeIdentity, nodeReach, unicastMacs } from "./rules/nodeIdentity.ts";
import { labelSpelling, workerLabels } from "./rules/nodeLabels.ts";
import { patchContent } from "./rules/patchContent.ts";
import { patchConditions, patchNames, patchNodes } from "./rules/patches.ts";
import { foreignNodeKeys, foreignSections } from "./rules/platform.ts";
import { vmAddressing, vmAndImage, vmPlaces, vmShape, vmSizes, vmSpread } from "./rules/proxmox.ts";
import { networkAddresses, overlappingRanges, rangeSizes } from "./rules/ranges.ts";
import { controlPlaneCount, schedulable } from "./rules/roles.ts";
import { sealingKey } from "./rules/sealingKey.ts";
import { announcedServices, serviceAddresses } from "./rules/services.ts";
import { tailnetNames, tailscaleExtension, tailscaleInterface, tailscaleKey } from "./rules/tailscale.ts";
import { supportedVersions } from "./rules/versions.ts";
import { virtualAddress } from "./rules/virtualAddress.ts";
import { volumes } from "./rules/volumes.ts";
import type { ClusterConfig } from "./schema.ts";
import { readShape } from "./shape.ts";

/** In the order in which their faults are listed: what the cluster is, its network, its nodes, its platform, the details. */
const rules = [
  supportedVersions,
  controlPlaneCount,
  endpointKnown,
  networkAddresses,
  overlappingRanges,
  rangeSizes,
  addressesInside,
  sharedAddresses,
  staticAddressing,
  vlanTrunk,
  virtualAddress,
  tailscaleExtension,
  tailscaleKey,
  tailnetNames,
  tailscaleInterface,
  nameservers,
  nodeIdentity,
  nodeReach,
  unicastMacs,
  nicMacs,
  machineNames,
  labelSpelling,
  workerLabels,
  foreignSections,
  foreignNodeKeys,
  vmShape,
  vmAndImage,
  vmPlaces,
  vmSpread,
  vmSizes,
  vmAddressing,
  privateNetwork,
  routerAddress,
  withoutLayer2,
  reachable,
  snapshotLabels,
  serverArchitecture,
  networkZone,
  onLab,
  doubledImageEntries,
  installDisk,
  kernelArguments,
  featureGates,
  hostResolver,
  certSANs,
  kernelLogs,
  schedulable,
  patchConditions,
  patchNodes,
  patchNames,
  patchContent,
  announcedServices,
  serviceAddresses,
  volumes,
  sealingKey,
  gitSource,
  gitCredentials,
  sopsKey,
];

/**
 * Checks raw values, top-level key by key, fills in the defaults, and puts the nodes in order. Throws one `ConfigError` that lists every fault.
 * `found` are faults that the caller has come upon already and wants listed with the others; of `hidden` keys it has no values, and what
 * depends on them is not judged.
 */
export function parseClusterConfig(
  raw: Record<string, unknown>,
  found: readonly Fault[] = [],
  hidden: readonly string[] = [],
): ClusterConfig {
  const shape = readShape(raw);
  const readable = rules.filter(({ reads }) => reads.every((key) => key in shape.config && !hidden.includes(key)));
  const config = shape.config as ClusterConfig; // complete without faults; with faults a rule sees only the keys it reads
  const unread = shape.faults.filter(({ path }) => !found.some((fault) => fault.path === path));
  const faults = [...found, ...unread, ...readable.flatMap(({ check }) => check(config))];
  if (faults.length > 0) throw new ConfigError(faults, nodeNames(raw.nodes));
  return { ...config, nodes: inOrder(config.nodes) };
}

// The SDK keeps it out of its types, but nothing else tells whether a value was encrypted.
const { allConfig, isConfigSecret } = pulumiConfig as typeof pulumiConfig & { isConfigSecret(key: string): boolean };

/** The configuration of the stack that is running. Nobody else reads the project's keys; accountToken.ts reads those of the providers. */
export function loadClusterConfig(): ClusterConfig {
  const prefix = `${projectName}:`;
  const own = Object.entries(allConfig()).filter(([key]) => key.startsWith(prefix));
  const values = Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
  return parseClusterConfig(
    decodeConfigValues(values),
    secrecyFaults(values, (key) => isConfigSecret(`${prefix}${key}`)),
  );
}

function nodeNames(nodes: unknown): (string | undefined)[] {
  return Array.isArray(nodes) ? nodes.map((node) => (typeof node?.name === "string" ? node.name : undefined)) : [];
}
