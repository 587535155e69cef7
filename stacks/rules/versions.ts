import { contractFaults, versionFaults } from "../../components/talos/config/versions.ts";
import { rule } from "./rule.ts";

/** Which Kubernetes versions a Talos release supports is in components/talos. */
export const supportedVersions = rule(["talosVersion", "kubernetesVersion"], ({ talosVersion, kubernetesVersion }) =>
  versionFaults(talosVersion, kubernetesVersion),
);

/** The contract in the state, if the environment names none, is checked when it is read: stacks/machineConfigs.ts. */
export const knownContract = rule(["configContract", "talosVersion"], ({ configContract, talosVersion }) =>
  configContract === undefined ? [] : contractFaults(configContract, talosVersion),
);
