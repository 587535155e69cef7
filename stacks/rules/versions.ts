import { versionFaults } from "../../components/talos/versions.ts";
import { rule } from "./rule.ts";

/** Which Kubernetes a Talos release carries is its own knowledge, so the table stands with the Talos code. */
export const supportedVersions = rule(["talosVersion", "kubernetesVersion"], ({ talosVersion, kubernetesVersion }) =>
  versionFaults(talosVersion, kubernetesVersion),
);
