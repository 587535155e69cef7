// An environment's configuration, read once and checked completely before anything is created.
// Only this module of the SDK: loading all of it takes most of a second, and `render` needs none of it.
import * as pulumiConfig from "@pulumi/pulumi/runtime/config.js";
import { ConfigError, type Fault } from "../base/fault.ts";
import type { Rule } from "../base/rule.ts";
import { addressesInside, sharedAddresses, takenAddresses } from "../rules/addresses.ts";
import { nameservers, nicMacs, staticAddressing, vlanTrunk } from "../rules/addressing.ts";
import { backups, restoring } from "../rules/backup.ts";
import { knownNames } from "../rules/catalogues.ts";
import { ciliumNeeds, ciliumTolerations, ciliumValues } from "../rules/cilium.ts";
import { retryDelays, stabilityWindow } from "../rules/durations.ts";
import { endpointKnown, endpointLeads } from "../rules/endpoint.ts";
import { gitCredentials, gitHostKeys, gitKey, sopsKey, tailnetKey } from "../rules/gitKeys.ts";
import { gitHost, gitSource, gitUrl } from "../rules/gitSource.ts";
import { doubledImageEntries } from "../rules/image.ts";
import { installDisk, kernelArguments } from "../rules/install.ts";
import { ownedKernelArgs } from "../rules/kernelArgs.ts";
import { onLab } from "../rules/lab.ts";
import { certSANs, featureGates, hostResolver, kernelLogs } from "../rules/machineFeatures.ts";
import { machineSecrets } from "../rules/machineSecrets.ts";
import { machineNames, nodeIdentity, unicastMacs } from "../rules/nodeIdentity.ts";
import { kubernetesOwn, labelSpelling, workerLabels } from "../rules/nodeLabels.ts";
import { cloudController, patchContent, patchImages, patchRoles, plainSecrets } from "../rules/patchContent.ts";
import { patchConditions, patchNames, patchNodes } from "../rules/patches.ts";
import { foreignNodeKeys, foreignSections } from "../rules/platform.ts";
import { networkAddresses, overlappingRanges, rangeSizes } from "../rules/ranges.ts";
import { controlPlaneCount, schedulable } from "../rules/roles.ts";
import { sealingKey } from "../rules/sealingKey.ts";
import { announcedServices, announcingCilium, serviceAddresses } from "../rules/services.ts";
import { outsideAddresses, specialAddresses } from "../rules/specialAddresses.ts";
import {
  tailnetNames,
  tailnetRanges,
  tailscaleArgs,
  tailscaleExtension,
  tailscaleInterface,
  tailscaleKey,
} from "../rules/tailscale.ts";
import { knownContract, supportedVersions } from "../rules/versions.ts";
import { virtualAddress } from "../rules/virtualAddress.ts";
import { volumes } from "../rules/volumes.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { decodeConfigValues, secrecyFaults } from "./configValues.ts";
import { foreignNamespaceFaults } from "./namespaces.ts";
import { inOrder } from "./nodeOrder.ts";
import { providerSecretFaults } from "./providerSecrets.ts";
import { readShape } from "./readShape.ts";
import { projectName } from "./settingsFile.ts";

/** In the order in which faults are listed: the cluster, its network, its nodes, its platform; after the platform's own rules, the details. */
const firstRules = [
  supportedVersions,
  knownContract,
  controlPlaneCount,
  endpointKnown,
  endpointLeads,
  specialAddresses,
  outsideAddresses,
  networkAddresses,
  overlappingRanges,
  rangeSizes,
  addressesInside,
  sharedAddresses,
  takenAddresses,
  staticAddressing,
  vlanTrunk,
  virtualAddress,
  tailscaleExtension,
  tailscaleKey,
  tailnetNames,
  tailscaleInterface,
  tailnetRanges,
  tailscaleArgs,
  nameservers,
  nodeIdentity,
  unicastMacs,
  nicMacs,
  machineNames,
  labelSpelling,
  workerLabels,
  kubernetesOwn,
  foreignSections,
  foreignNodeKeys,
];
const lastRules = [
  onLab,
  doubledImageEntries,
  knownNames,
  installDisk,
  kernelArguments,
  ownedKernelArgs,
  featureGates,
  hostResolver,
  certSANs,
  kernelLogs,
  schedulable,
  patchConditions,
  patchNodes,
  patchNames,
  patchContent,
  plainSecrets,
  cloudController,
  patchImages,
  patchRoles,
  ciliumNeeds,
  ciliumTolerations,
  ciliumValues,
  announcedServices,
  serviceAddresses,
  announcingCilium,
  volumes,
  machineSecrets,
  sealingKey,
  gitSource,
  gitUrl,
  gitHost,
  gitCredentials,
  gitKey,
  gitHostKeys,
  sopsKey,
  tailnetKey,
  backups,
  restoring,
  stabilityWindow,
  retryDelays,
];

export interface ParseOptions {
  /** Faults that the caller has found already, to be listed with the others. */
  readonly found?: readonly Fault[];
  /** Keys without values: rules that read them do not run. */
  readonly hidden?: readonly string[];
  /** Name of the environment's file, for the message. */
  readonly file?: string;
}

/**
 * Checks raw values, top-level key by key, fills in the defaults, and puts the nodes in order. Throws one `ConfigError` that lists every fault.
 */
export function parseClusterConfig(
  raw: Record<string, unknown>,
  { found = [], hidden = [], file }: ParseOptions = {},
): ClusterConfig {
  const shape = readShape(raw);
  const rules: readonly Rule<ClusterConfig>[] = [...firstRules, ...(shape.config.platform?.rules ?? []), ...lastRules];
  const readable = rules.filter(({ reads }) => reads.every((key) => key in shape.config && !hidden.includes(key)));
  const config = shape.config as ClusterConfig; // complete without faults; with faults a rule sees only the keys it reads
  const unread = shape.faults.filter(({ path }) => !found.some((fault) => fault.path === path));
  const faults = [...found, ...unread, ...readable.flatMap(({ check }) => check(config))];
  if (faults.length > 0) throw new ConfigError(faults, nodeNames(raw.nodes), file);
  return { ...config, nodes: inOrder(config.nodes) };
}

// It is not in the SDK's types, but nothing else shows whether a value was encrypted.
const { allConfig, isConfigSecret } = pulumiConfig as typeof pulumiConfig & { isConfigSecret(key: string): boolean };

/**
 * The configuration of the stack that is running, from its file `file`. Nothing else reads the project's keys; accountToken.ts uses those of providers.
 */
export function loadClusterConfig(file?: string): ClusterConfig {
  const prefix = `${projectName}:`;
  const { own = [], ofOthers = [] } = Object.groupBy(Object.entries(allConfig()), ([key]) =>
    key.startsWith(prefix) ? "own" : "ofOthers",
  );
  const values = Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
  const found = [
    ...secrecyFaults(values, (key) => isConfigSecret(`${prefix}${key}`)),
    ...providerSecretFaults(Object.fromEntries(ofOthers), isConfigSecret),
    ...foreignNamespaceFaults(ofOthers.map(([key]) => key)),
  ];
  return parseClusterConfig(decodeConfigValues(values), { found, ...(file !== undefined && { file }) });
}

function nodeNames(nodes: unknown): (string | undefined)[] {
  return Array.isArray(nodes) ? nodes.map((node) => (typeof node?.name === "string" ? node.name : undefined)) : [];
}
