import { versionFaults } from "../../components/talos/config/versions.ts";
import { rule } from "./rule.ts";

/** Which Kubernetes versions a Talos release supports is in components/talos. */
export const supportedVersions = rule(["talosVersion", "kubernetesVersion"], ({ talosVersion, kubernetesVersion }) =>
  versionFaults(talosVersion, kubernetesVersion),
);
