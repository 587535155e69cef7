// Decides whether a change of a node's Kubernetes version is a step that Kubernetes supports.
import {
  imageVersion,
  type KubernetesComponent,
  type KubernetesVersion,
  kubernetesImages,
} from "./kubernetesImages.ts";

/** A change that is refused. */
export interface UnsupportedStep {
  readonly component: KubernetesComponent;
  readonly from: string;
  readonly to: string;
  /** What to do instead. */
  readonly remedy: string;
}

/**
 * The first component whose minor version would go down or skip one; undefined if there is none. Kubernetes supports upgrades by one minor version and no
 * downgrades (kubernetes.io/releases/version-skew-policy); patch releases may change either way. An image without a version is not judged.
 */
export function unsupportedKubernetesStep(before: string, after: string): UnsupportedStep | undefined {
  const [was, is] = [kubernetesImages(before), kubernetesImages(after)];
  for (const component of ["kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const) {
    const [from, to] = [imageVersion(was[component] ?? ""), imageVersion(is[component] ?? "")];
    const step = from && to && unsupportedStep(from, to);
    if (step !== undefined) return { component, ...step };
  }
  return undefined;
}

/** Why a change of the version is refused; undefined if it is allowed. */
export function unsupportedStep(
  from: KubernetesVersion,
  to: KubernetesVersion,
): Omit<UnsupportedStep, "component"> | undefined {
  const steps = to.minor - from.minor;
  return steps === 0 || steps === 1 ? undefined : { from: from.text, to: to.text, remedy: remedy(from, to) };
}

function remedy(from: KubernetesVersion, to: KubernetesVersion): string {
  if (to.minor < from.minor) {
    return `Set kubernetesVersion to a release of 1.${from.minor} or 1.${from.minor + 1}. An older minor version takes a new cluster: \`npm run destroy -- <environment>\` and \`npm run up -- <environment>\`.`;
  }
  const next = `1.${from.minor + 1}`;
  return `Go there one minor version at a time: set kubernetesVersion to a release of ${next}, run \`npm run up -- <environment>\`, and so on until ${to.text}; docs/versions.md has the Talos version that each needs. If the nodes run it already, run \`npm run refresh -- <environment>\` first.`;
}
