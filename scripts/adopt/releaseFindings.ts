// Which of the environment's software a running cluster has, and whether the state can take it over as it is. Pure.
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import type { HelmRelease } from "../../components/kubernetes/helmReleases.ts";
import { isMapping, record } from "../../components/model/untyped.ts";
import { mergeValues, type Values } from "../../components/platform/mergeValues.ts";
import { redact } from "../../components/talos/config/redact.ts";
import type { FoundResource } from "../../stacks/platforms/foundMachines.ts";
import type { AdoptionFault } from "./clusterFaults.ts";
import type { KubernetesLook } from "./lookAtCluster.ts";
import { releaseType, type WantedRelease } from "./programReleases.ts";

/** A difference of a release, which the next `up` would remove by an upgrade of the release. */
export interface ReleaseDifference {
  readonly release: string;
  readonly text: string;
  readonly key: string;
}

export interface ReleaseFindings {
  readonly adopted: readonly FoundResource[];
  readonly differences: readonly ReleaseDifference[];
  readonly faults: readonly AdoptionFault[];
  /** What the next `up` installs. */
  readonly missing: readonly string[];
}

/** Where Kubernetes does not answer. */
export const noReleases: ReleaseFindings = { adopted: [], differences: [], faults: [], missing: [] };

interface Software {
  /** An object that it has however it was installed. */
  readonly sign: string;
  /** The key for its version. */
  readonly version: string;
  /** The key without which it is not Sluice's; undefined if there is none. */
  readonly off?: string;
}

const kubeSystem = "/apis/apps/v1/namespaces/kube-system";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** By chart. */
const software: Readonly<Record<string, Software>> = {
  cilium: { sign: `${kubeSystem}/daemonsets/cilium`, version: "cilium.version" },
  "hcloud-cloud-controller-manager": {
    sign: `${kubeSystem}/deployments/hcloud-cloud-controller-manager`,
    version: "hetzner.cloudControllerManager.version",
    off: "hetzner.cloudControllerManager.enabled",
  },
  "hcloud-csi": {
    sign: "/apis/storage.k8s.io/v1/csidrivers/csi.hetzner.cloud",
    version: "csi.version",
    off: "csi.enabled",
  },
  "proxmox-csi-plugin": {
    sign: "/apis/storage.k8s.io/v1/csidrivers/csi.proxmox.sinextra.dev",
    version: "csi.version",
    off: "csi.enabled",
  },
  "sealed-secrets": {
    sign: `${definitions}/sealedsecrets.bitnami.com`,
    version: "sealedSecrets.version",
    off: "sealedSecrets.enabled",
  },
  flux2: {
    sign: `${definitions}/gitrepositories.source.toolkit.fluxcd.io`,
    version: "flux.version",
    off: "flux.enabled",
  },
};

/** The objects by which software is recognized that Helm has not installed. */
export function signsOf(wanted: readonly WantedRelease[]): readonly string[] {
  return wanted.flatMap(({ chart }) => software[chart]?.sign ?? []);
}

export function releaseFindings(wanted: readonly WantedRelease[], look: KubernetesLook): ReleaseFindings {
  const all = wanted.map((release) => findingOf(release, look));
  return {
    adopted: all.flatMap(({ adopted = [] }) => adopted),
    differences: all.flatMap(({ differences = [] }) => differences),
    faults: all.flatMap(({ faults = [] }) => faults),
    missing: all.flatMap(({ missing = [] }) => missing),
  };
}

function findingOf(wanted: WantedRelease, { releases, objects }: KubernetesLook): Partial<ReleaseFindings> {
  const { namespace, name, chart, version } = wanted;
  const known = software[chart];
  const own = releases.find((release) => release.namespace === namespace && release.name === name);
  const where = `Helm release ${namespace}/${name}`;
  const leave = known?.off === undefined ? undefined : `to leave it to whoever installed it, set ${known.off} to false`;
  if (own?.chart === chart) {
    const { resource, component, inputs } = wanted;
    const differences = differencesOf(wanted, own, known?.version ?? "", where);
    const isSame = differences.length === 0;
    const found = { type: releaseType, name: resource, component, id: `${namespace}/${name}` };
    return { adopted: [{ ...found, ...(isSame && { inputs }) }], differences };
  }
  if (own !== undefined) {
    const seen = `is chart ${own.chart}, not ${chart}`;
    return { faults: [{ where, seen, remedy: leave ?? "remove it, or install the chart under its own name" }] };
  }
  const other = releases.find((release) => release.chart === chart);
  if (other !== undefined) {
    const seen = `the chart ${chart} is installed as ${other.namespace}/${other.name}, and Helm renames no release`;
    return { faults: [{ where, seen, remedy: leave ?? takeOwnership(wanted) }] };
  }
  if (known !== undefined && objects[known.sign] !== undefined) {
    const seen = `${chart} runs, and Helm has not installed it: it has no release`;
    const give = takeOwnership(wanted);
    return { faults: [{ where, seen, remedy: leave === undefined ? give : `${leave}; ${give}` }] };
  }
  return { missing: [`${chart} ${version}`] };
}

function takeOwnership({ namespace, name, chart, version }: WantedRelease): string {
  return `to give it to Helm, with the values that it runs with: helm upgrade --install ${name} <repository>/${chart} --version ${version} --namespace ${namespace} --values <file> --take-ownership`;
}

function differencesOf(
  wanted: WantedRelease,
  own: HelmRelease,
  versionKey: string,
  release: string,
): readonly ReleaseDifference[] {
  if (own.version !== wanted.version) {
    const text = `~ version: ${own.version} -> ${wanted.version}`;
    return [{ release, text, key: `set ${versionKey} to ${own.version}` }];
  }
  // What its values mean together with the chart's: a value that is the chart's own default may be left out.
  const [is, would] = [mergeValues(own.defaults, own.values), mergeValues(own.defaults, wanted.values)];
  const isUnknown = (path: string) => wanted.unknown.some((one) => path === one || path.startsWith(`${one}.`));
  const known = changedValues(is, would).filter(({ path }) => !isUnknown(path));
  return [
    ...known.map(({ path, was, is: now }) => ({
      release,
      text: `~ ${path}: ${shown(path, was)} -> ${shown(path, now)}`,
      key: keyOf(own.chart, path, shown(path, was)),
    })),
    ...wanted.unknown.map((path) => ({
      release,
      text: `~ ${path}: another one that Sluice makes`,
      key: keyOf(own.chart, path, ""),
    })),
  ];
}

/** The settings with which an environment keeps the software that runs, by its keys at the top. */
export function keptReleases(
  wanted: readonly WantedRelease[],
  look: KubernetesLook,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(wanted.flatMap((one) => keptRelease(one, look)));
}

function keptRelease(wanted: WantedRelease, { releases }: KubernetesLook): readonly (readonly [string, object])[] {
  const { namespace, name, chart } = wanted;
  const known = software[chart];
  const [section = ""] = (known?.version ?? "").split(".");
  const own = releases.find((one) => one.namespace === namespace && one.name === name && one.chart === chart);
  // What Helm has not installed under this name is left to others, or out. Where no key does that, `npm run adopt` reports what to do.
  if (own === undefined) return known?.off === `${section}.enabled` ? [[section, { enabled: false }]] : [];
  if (chart !== "cilium") return [[section, { version: own.version }]];
  const values = changedValues(
    mergeValues(own.defaults, wanted.values),
    mergeValues(own.defaults, own.values),
  ).reduce<Values>((all, { path, is }) => mergeValues(all, nested(path.split("."), is ?? null)), {});
  return [[section, { version: own.version, ...(Object.keys(values).length > 0 && { values }) }]];
}

function nested([key = "", ...rest]: readonly string[], value: unknown): Values {
  return { [key]: rest.length === 0 ? value : nested(rest, value) };
}

interface ChangedValue {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

function changedValues(was: unknown, is: unknown, path = ""): readonly ChangedValue[] {
  if (isDeepStrictEqual(was ?? undefined, is ?? undefined)) return [];
  if (!isMapping(was) || !isMapping(is)) return [{ path, was, is }];
  const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...keys].flatMap((key) => changedValues(was[key], is[key], path === "" ? key : `${path}.${key}`));
}

/** Only Cilium's values are an environment's own. */
function keyOf(chart: string, path: string, was: string): string {
  if (chart === "cilium") return `set cilium.values.${path} to ${was}`;
  if (chart === "sealed-secrets") return "leave out sealedSecretsCertificate and sealedSecretsKey, or have it upgraded";
  const off = software[chart]?.off;
  return off === undefined ? "Sluice sets it" : `Sluice sets it; or leave the release to others: ${off}: false`;
}

/** Secrets are masked as in a machine config; longer values are cut. */
function shown(path: string, value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  const key = path.split(".").at(-1) ?? "";
  const masked = record(parse(redact(stringify({ [key]: value }))))[key];
  const text = JSON.stringify(masked);
  return text.length > longest ? `${text.slice(0, longest)}...` : text;
}

const longest = 80;
