import { type ConfigChange, configChanges } from "./configDiff.ts";
import { isMapping, machineSection, mainDocument } from "./configDocuments.ts";

/**
 * What Talos takes over while it runs, of the document without a kind; every other document it takes over always.
 * Source: CanApplyImmediate in siderolabs/talos internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_runtime.go (v1.13.8).
 */
const immediate: readonly (readonly string[])[] = [
  ["debug"],
  ["cluster"],
  ...[
    "ca",
    "acceptedCAs",
    "time",
    "certSANs",
    "install",
    "network",
    "sysfs",
    "sysctls",
    "logging",
    "controlPlane",
    "kubelet",
    "kernel",
    "registries",
    "pods",
    "seccompProfiles",
    "nodeAnnotations",
    "nodeLabels",
    "nodeTaints",
  ].map((key) => ["machine", key]),
  ...["kubernetesTalosAPIAccess", "kubePrism", "hostDNS", "imageCache", "nodeAddressSortAlgorithm"].map((key) => [
    "machine",
    "features",
    key,
  ]),
];

/** The changes for which a node that runs `before` must reboot; none when it takes `after` over while it runs. */
export function rebootChanges(before: string, after: string): readonly ConfigChange[] {
  const comesOrGoes = featuresOf(before) !== featuresOf(after);
  return (configChanges(before, after) ?? []).filter(
    ({ document, path }) => document === mainDocument && (!isImmediate(path) || (comesOrGoes && isFeature(path))),
  );
}

function isImmediate(path: readonly string[]): boolean {
  return immediate.some((keys) => keys.every((key, place) => path[place] === key));
}

function isFeature([first, second]: readonly string[]): boolean {
  return first === "machine" && second === "features";
}

/** Single features are compared only where there are features before and after: Talos takes a whole block that is new for a change of its own. */
function featuresOf(config: string): boolean {
  return isMapping(machineSection(config)?.features);
}
