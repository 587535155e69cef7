import type { z } from "zod";
import type { ProxiedApi } from "../../components/api/proxiedApi.ts";
import type { MachineEntry } from "../../components/lifecycle/changePlan.ts";
import type { MachinePlace, MachinePlatform } from "../../components/lifecycle/machinePlatform.ts";
import type { Settings } from "../../components/model/settings/documentation.ts";
import type { NodeSettings } from "../../components/model/settings/node.ts";
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";
import type { GeneralConfig } from "../base/generalConfig.ts";
import type { Rule } from "../base/rule.ts";
import type { ApiAccess, ApiAnswers } from "./apiCheck.ts";
import type { AdoptionAccess, FoundMachines, FoundPlatform } from "./foundMachines.ts";
import type { LabNeeds } from "./labNeeds.ts";
import type { PlatformResources } from "./platformResources.ts";
import type { VolumeDriver } from "./volumeDriver.ts";

/** An environment of any platform. */
export type AnyConfig = GeneralConfig & {
  /** The section of its platform. */
  readonly settings: unknown;
};

/** An environment as its own platform reads it. */
export type PlatformConfig<Section extends z.ZodObject, NodeKeys extends z.ZodRawShape> = Omit<
  GeneralConfig,
  "nodes"
> & {
  readonly settings: Settings<Section>;
  readonly nodes: readonly (NodeSettings & Settings<z.ZodObject<NodeKeys>>)[];
};

/** A value of an environment, with its name in messages. */
export interface NamedValue {
  /** Where it is in the environment: `hetzner.networkCidr`. */
  readonly path: string;
  readonly value: string;
  readonly title: string;
}

/**
 * A platform, with everything that depends on it. Only the list of these objects, registry.ts, distinguishes platforms. Only `resources`, `askApi` and
 * `currentMachines` need the engine or a network.
 */
export interface Platform<Config extends AnyConfig = AnyConfig> extends MachinePlatform {
  /** Its name in documents: "Hetzner". */
  readonly title: string;
  /** The section of an environment that has the platform's name. */
  readonly section: z.ZodObject;
  /** Keys of a node's entry that only this platform reads. */
  readonly nodeKeys: z.ZodRawShape;
  /** General keys of a node's entry that this platform refuses, each with the reason. */
  readonly refusedNodeKeys: { readonly [Key in keyof NodeSettings]?: string };
  /** Keys that an environment cannot set because only one value works, by path. */
  readonly fixedKeys?: Readonly<Record<string, { readonly value: unknown; readonly reason: string }>>;
  /** How values of its environments must fit together. */
  readonly rules: readonly Rule<Config>[];
  /** What may be a mistake in them, and does not stop a run. */
  readonly warnings?: readonly Rule<Config>[];
  /** The key that gives several control planes one address. */
  readonly sharedAddressKey: string;
  /** The address of a load balancer by which nodes call the Kubernetes API. */
  loadBalancer?(settings: Config["settings"]): NamedValue | undefined;
  /** Addresses outside the list of nodes that are in use, so that Services cannot get them. */
  takenAddresses?(settings: Config["settings"]): readonly NamedValue[];
  /** Ranges that its settings name. */
  ranges?(settings: Config["settings"]): readonly NamedValue[];
  /** The range around the node network, if that is only a part of a network. */
  networkRange?(settings: Config["settings"]): NamedValue | undefined;
  /** Whether a cloud controller is installed, which reports to Kubernetes which machine a node is. */
  hasCloudController(settings: Config["settings"]): boolean;
  /** The driver for volumes of this platform, if there is one. */
  readonly volumes?: VolumeDriver;
  /** The parts of a node's entry that determine its machine. */
  machineEntry(node: Config["nodes"][number], config: Config): MachineEntry;
  /** Where its machines can be looked up. */
  place(config: Config): MachinePlace;
  /** Whether machines get their addresses when they are created, before they have a config. */
  hasFixedAddresses(config: Config): boolean;
  /** Asks its API, only reading, whether it has what an environment names and lets the token create it. */
  askApi?(config: Config, access: ApiAccess): Promise<ApiAnswers>;
  /** The account that machines are created with. */
  readonly account?: PlatformAccount;
  /** Types of resources that contain nothing yet if their creation fails half-way: the next `up` recreates such a resource. */
  readonly recreatedTypes: readonly string[];
  readonly lab: LabSimulation<Config>;
  /** How a running cluster is adopted; undefined if that is not possible. */
  readonly adoption?: PlatformAdoption<Config>;
  /** What the engine creates. Loaded only for an environment of this platform: it brings the platform's own SDK. */
  resources(config: Config): Promise<PlatformResources>;
}

/** How a platform recognizes the machines of a running cluster. Only reads. */
export interface PlatformAdoption<Config extends AnyConfig = AnyConfig> {
  find(config: Config, access: AdoptionAccess): Promise<FoundPlatform>;
  /** The patches of a node's machine config that follow from its machine. */
  patches(node: Config["nodes"][number], found: FoundMachines, config: Config): readonly ConfigPatch[];
  /** Properties of the platform's resources whose change the next `up` makes without an effect on nodes, and those for which a machine would be turned off. Of items in a list: `rules[].description`. */
  readonly planned?: { readonly harmless: readonly string[]; readonly disruptive: readonly string[] };
}

/** Where the credentials of an account are; those for a lab are kept apart from real ones. */
export interface PlatformAccount {
  /** Namespace of the provider's own keys in an environment's file. */
  readonly provider: string;
  /** Prefix of the environment variables with credentials. */
  readonly variables: string;
  /** Where the token is read. */
  readonly token: TokenPlace;
  readonly proxied: ProxiedApi;
}

export interface TokenPlace {
  /** The provider's key in an environment's file: `hcloud:token`. */
  readonly key: string;
  /** The environment variable for the same token. */
  readonly variable: string;
}

/** How the lab simulates a platform. */
export interface LabSimulation<Config extends AnyConfig = AnyConfig> {
  /** What a lab must provide before Sluice runs: the platform as its owner would have set it up. */
  needs(config: Config): LabNeeds;
  /** Changes its section, as it is in an environment's file and unchecked, so that it works on a lab. */
  adapt?(
    section: Readonly<Record<string, unknown>>,
    choice: { readonly hasLabCharts: boolean },
  ): Record<string, unknown>;
  /** Keys of a node's entry that have no meaning on a lab. */
  readonly droppedNodeKeys?: readonly string[];
}

/** Whether the cluster gets volumes. */
export function hasVolumes({ platform, csi }: { readonly platform: Platform } & Pick<GeneralConfig, "csi">): boolean {
  return platform.volumes !== undefined && (csi.enabled ?? true);
}
