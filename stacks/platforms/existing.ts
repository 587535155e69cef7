// Machines that someone else has set up, bare metal or virtual. docs/existing.md
import { existingPlatform } from "../../components/machines/existing/existingPlatform.ts";
import { existingNode, existing as section } from "../../components/model/settings/existing.ts";
import { machinesFor } from "./existingLab.ts";
import { existingPatches, listedMachines } from "./existingNodes.ts";
import { type ExistingConfig, existingRules } from "./existingRules.ts";
import type { Platform } from "./platform.ts";

export const existing = {
  ...existingPlatform,
  title: "existing machines",
  section,
  nodeKeys: existingNode,
  refusedNodeKeys: {},
  rules: existingRules,
  sharedAddressKey: "network.vip",
  hasCloudController: () => false,
  machineEntry: ({ role, address, reach, uuid, mac }) => ({
    role,
    address,
    ...(reach !== undefined && { talosAddress: reach }),
    identity: uuid ?? mac ?? "",
  }),
  place: () => ({ kind: "existing" }),
  // How they get their addresses is up to their owner.
  hasFixedAddresses: () => false,
  recreatedTypes: [],
  lab: {
    needs: (config) => ({ machines: machinesFor(config) }),
    // Every machine is reached at its own address there.
    droppedNodeKeys: ["reach"],
  },
  adoption: {
    // The list is all that there is of them.
    find: async ({ nodes }) => ({ machines: listedMachines(nodes), resources: [], faults: [] }),
    patches: existingPatches,
  },
  resources: async (config) => (await import("./existingResources.ts")).existingResources(config),
} as const satisfies Platform<ExistingConfig>;
