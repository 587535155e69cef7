// Decides whether a change of a node's Kubernetes version is a step that Kubernetes supports.
import { isMapping } from "../../model/untyped.ts";
import { type ConfigValue, configDocuments, mainDocument } from "./configDocuments.ts";

/** The images of Kubernetes in a machine config, with the names of their components. */
const components = [
  { name: "kubelet", path: ["machine", "kubelet", "image"] },
  { name: "kube-apiserver", path: ["cluster", "apiServer", "image"] },
  { name: "kube-controller-manager", path: ["cluster", "controllerManager", "image"] },
  { name: "kube-scheduler", path: ["cluster", "scheduler", "image"] },
] as const;

/** A change that is refused. */
export interface UnsupportedStep {
  readonly component: string;
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
  const [was, is] = [before, after].map(mainBody);
  for (const { name, path } of components) {
    const [from, to] = [versionAt(was, path), versionAt(is, path)];
    if (from === undefined || to === undefined) continue;
    const steps = to.minor - from.minor;
    if (steps !== 0 && steps !== 1) return { component: name, from: from.text, to: to.text, remedy: remedy(from, to) };
  }
  return undefined;
}

interface Version {
  readonly text: string;
  readonly minor: number;
}

/** A tag such as `:v1.35.4`, with or without a digest after it. */
const tag = /:v?(1\.(\d+)\.\d+[^:/@]*)(@[^/]*)?$/;

function versionAt(body: ConfigValue | undefined, path: readonly string[]): Version | undefined {
  const image = path.reduce<ConfigValue | undefined>((at, key) => (isMapping(at) ? at[key] : undefined), body);
  const [, text, minor] = (typeof image === "string" && tag.exec(image)) || [];
  return text === undefined ? undefined : { text, minor: Number(minor) };
}

function mainBody(config: string): ConfigValue | undefined {
  return configDocuments(config)?.find(({ title }) => title === mainDocument)?.body;
}

function remedy(from: Version, to: Version): string {
  if (to.minor < from.minor) {
    return `Set kubernetesVersion to a release of 1.${from.minor} or 1.${from.minor + 1}. An older minor version takes a new cluster: \`npm run destroy -- <environment>\` and \`npm run up -- <environment>\`.`;
  }
  const next = `1.${from.minor + 1}`;
  return `Go there one minor version at a time: set kubernetesVersion to a release of ${next}, run \`npm run up -- <environment>\`, and so on until ${to.text}; docs/versions.md has the Talos version that each needs. If the nodes run it already, run \`npm run refresh -- <environment>\` first.`;
}
