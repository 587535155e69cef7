// Whether the cluster, as it runs, may be upgraded to a version.
import { SluiceError } from "../../errors/sluiceError.ts";
import type { Role } from "../../model/role.ts";
import { imageVersion, type KubernetesVersion, kubernetesVersion } from "../../talos/config/kubernetesImages.ts";
import { unsupportedStep } from "../../talos/config/kubernetesStep.ts";
import { versionFaults } from "../../talos/config/versions.ts";
import { behind, componentsOf, type NodeKubernetes } from "./nodeKubernetes.ts";

/** What a node runs now. */
export interface LiveNode {
  readonly name: string;
  readonly role: Role;
  readonly kubernetes: Pick<NodeKubernetes, "wanted" | "running" | "talos">;
}

/** What is to be done. */
export interface UpgradePath {
  /** The lowest version of any component of any node; on a return the highest. */
  readonly from: KubernetesVersion;
  readonly to: KubernetesVersion;
}

/** Whether any component of any node runs an older version. */
export function hasOlder(nodes: readonly LiveNode[], to: string): boolean {
  const target = kubernetesVersion(to);
  return target !== undefined && nodes.flatMap(liveVersions).some(({ version }) => compare(version, target) < 0);
}

interface LiveVersion {
  readonly where: string;
  readonly version: KubernetesVersion;
}

/**
 * Undefined if every node runs the version. Throws if that is not one step away from the lowest version, or from any other. Control planes may return from an
 * upgrade as long as no kubelet follows them: an older API server can read what a newer one has stored (rule 4b of Kubernetes' deprecation policy).
 */
export function upgradePath(nodes: readonly LiveNode[], to: string): UpgradePath | undefined {
  const target = kubernetesVersion(to);
  if (target === undefined) throw new Error(`${to} is no version of Kubernetes`); // the schema has checked it
  if (nodes.every(({ role, kubernetes }) => behind(kubernetes, role, target.text).length === 0)) return undefined;
  const live = nodes.flatMap(liveVersions).toSorted((a, b) => compare(a.version, b.version));
  const [lowest, highest] = [live[0]?.version ?? target, live.at(-1)?.version ?? target];
  if (isReturn(nodes, lowest, highest, target)) return { from: highest, to: target };
  for (const { where, version } of [...live.slice(0, 1), ...live.slice(-1)]) {
    const step = unsupportedStep(version, target);
    if (step !== undefined) throw new SluiceError({ code: "SLU-T214", where, seen: seen(step), remedy: step.remedy });
  }
  refuseUnsupportedPair(nodes, target.text);
  return { from: lowest, to: target };
}

function isReturn(
  nodes: readonly LiveNode[],
  lowest: KubernetesVersion,
  highest: KubernetesVersion,
  { minor }: KubernetesVersion,
): boolean {
  const kubelets = nodes.flatMap(({ kubernetes: { wanted, running } }) => [wanted.kubelet, running.kubelet]);
  const follows = kubelets.some((image) => (imageVersion(image ?? "")?.minor ?? minor) > minor);
  return lowest.minor === minor && highest.minor === minor + 1 && !follows;
}

function seen({ from, to }: { readonly from: string; readonly to: string }): string {
  return `it runs ${from}, and would run ${to}. Nothing was changed`;
}

function liveVersions({ name, role, kubernetes: { wanted, running } }: LiveNode): readonly LiveVersion[] {
  return componentsOf(role).flatMap((component) =>
    [wanted[component], running[component]].flatMap((image) => {
      const version = imageVersion(image ?? "");
      return version === undefined ? [] : [{ where: `${component} of ${name}`, version }];
    }),
  );
}

function compare(one: KubernetesVersion, other: KubernetesVersion): number {
  return one.minor - other.minor || one.text.localeCompare(other.text, "en", { numeric: true });
}

/** A rule compares the versions of the environment. A node may run another Talos. */
function refuseUnsupportedPair(nodes: readonly LiveNode[], to: string): void {
  const faults = nodes.flatMap(({ name, kubernetes: { talos } }) =>
    versionFaults(talos, to).map(({ message }) => `${name}: ${message}`),
  );
  if (faults.length > 0) {
    throw new SluiceError({ code: "SLU-K301", seen: `${faults.join("; ")}. Nothing was changed` });
  }
}
