import { didYouMean } from "../../components/model/suggest.ts";
import { isMapping } from "../../components/model/untyped.ts";
import type { Fault } from "../base/fault.ts";
import { yamlPath } from "../schema/yamlPath.ts";
import { kubernetesImages, ownedConfig, ownedDocuments } from "./ownedConfig.ts";
import { allPatches, type ListedPatch } from "./patches.ts";
import { rule } from "./rule.ts";

/** The keys of a machine config. Any other key at the top of a patch is a mistake, or belongs to a config document without its kind. */
const machineConfigKeys = ["machine", "cluster", "version", "debug", "persist"];

export const patchContent = rule(["patches", "secretPatches"], (config) =>
  allPatches(config).flatMap((listed) =>
    listed.patch.patch.kind === undefined ? machineConfigFaults(listed) : documentFaults(listed),
  ),
);

/** S2.2: fields of the machine config, and of its documents, whose text is a secret. */
const secretFields = /^(password|identityToken|passphrase|privateKey|presharedKey)$/;

/** What would be in plain text in the environment's file. */
export const plainSecrets = rule(["patches"], ({ patches }) =>
  patches.flatMap(({ patch }, index) =>
    secretPaths(patch).map((path) => ({
      path: yamlPath(["patches", index, "patch", ...path]),
      message: "is secret, and in plain text here: move the patch to secretPatches; the value is not shown",
    })),
  ),
);

function secretPaths(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => secretPaths(item, [...path, index]));
  if (isMapping(value)) return Object.entries(value).flatMap(([key, item]) => secretPaths(item, [...path, key]));
  if (typeof value !== "string" || value === "") return [];
  const [name, above] = [path.at(-1), path.at(-2)];
  const isSecret =
    (typeof name === "string" && (secretFields.test(name) || (name === "auth" && above === "auth"))) ||
    /^TS_AUTHKEY=./.test(value) ||
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(value);
  return isSecret ? [path] : [];
}

const controllerKeys = [
  ["cluster", "externalCloudProvider", "enabled"],
  ["machine", "kubelet", "extraArgs", "cloud-provider"],
] as const;
const manifestKeys = [
  ["cluster", "externalCloudProvider", "manifests"],
  ["cluster", "extraManifests"],
  ["cluster", "inlineManifests"],
] as const;

/** Nodes keep a taint until a cloud controller runs, and what is installed later would find no node. */
export const cloudController = rule(["patches", "secretPatches", "platform", "settings"], function* (config) {
  const patches = allPatches(config);
  const isInstalled =
    config.platform.hasCloudController(config.settings) ||
    patches.some(({ patch }) => manifestKeys.some((key) => valueAt(patch.patch, key) !== undefined));
  if (isInstalled) return;
  for (const { path, patch } of patches) {
    for (const key of controllerKeys) {
      const value = valueAt(patch.patch, key);
      if (value !== true && value !== "external") continue;
      yield {
        path: `${path}.patch.${key.join(".")}`,
        message:
          "needs a cloud controller, and none is installed: add its manifests in cluster.inlineManifests or cluster.extraManifests, or pods find no node",
      };
    }
  }
});

/** Another version's image would run beside gates and patches for this one. */
export const patchImages = rule(["patches", "secretPatches", "kubernetesVersion"], function* (config) {
  const { kubernetesVersion } = config;
  for (const { path, patch } of allPatches(config)) {
    for (const key of kubernetesImages) {
      const image = valueAt(patch.patch, key.split("."));
      if (image === undefined || tagOf(String(image)) === `v${kubernetesVersion}`) continue;
      yield {
        path: `${path}.patch.${key}`,
        message: `must have the tag v${kubernetesVersion}, of kubernetesVersion: change that, and let the patch name another registry only`,
      };
    }
  }
});

/** Only members of etcd have its config, and Talos refuses it on others after the first node was configured. */
export const patchRoles = rule(["patches", "secretPatches", "nodes"], function* ({ nodes, ...config }) {
  for (const { path, patch } of allPatches(config)) {
    const on = nodes.filter(
      (node) =>
        node.role === "worker" &&
        (patch.role ?? node.role) === node.role &&
        (patch.nodes === undefined || patch.nodes.includes(node.name)),
    );
    if (on.length > 0 && valueAt(patch.patch, ["cluster", "etcd"]) !== undefined) {
      yield {
        path: `${path}.patch.cluster.etcd`,
        message: "is for control planes, and this patch is for workers too: add 'role: controlplane' to it",
      };
    }
  }
});

function machineConfigFaults({ path, patch: { patch }, isSecret }: ListedPatch): Fault[] {
  const keys = Object.keys(patch);
  if (keys.length === 0) return [{ path: `${path}.patch`, message: "is empty: remove it, or set what it changes" }];
  const taken = Object.entries(ownedConfig).flatMap(([key, instead]) => {
    const found = touched(patch, key.split("."));
    if (found === undefined) return [];
    const touches = found.join(".");
    return [
      { touches, words: touches === key ? "cannot be set by a patch" : `cannot be deleted, ${key} is in it`, instead },
    ];
  });
  return [
    ...unknownSections(path, keys, isSecret),
    // A map that is deleted takes several of them away, and is reported once.
    ...[...Map.groupBy(taken, ({ touches }) => touches).values()].flatMap(([first]) =>
      first === undefined
        ? []
        : [{ path: `${path}.patch.${first.touches}`, message: `${first.words}: ${first.instead}` }],
    ),
  ];
}

function unknownSections(path: string, keys: readonly string[], isSecret: boolean): Fault[] {
  const unknown = keys.filter((key) => !machineConfigKeys.includes(key));
  if (isSecret && unknown.length > 0) {
    return [{ path: `${path}.patch`, message: `has a key other than ${machineConfigKeys.join(", ")}` }];
  }
  const rest = ": a machine config has machine and cluster, a config document needs kind";
  return unknown.map((key) => ({
    path: `${path}.patch.${key}`,
    message: `is unknown${didYouMean(key, machineConfigKeys) || rest}`,
  }));
}

function documentFaults({ path, patch: { patch } }: ListedPatch): Fault[] {
  if (patch.apiVersion === undefined) {
    return [
      {
        path: `${path}.patch.apiVersion`,
        message: "is missing: a config document has an apiVersion, mostly 'v1alpha1', and a kind",
      },
    ];
  }
  const instead = ownedDocuments[String(patch.kind)];
  if (instead === undefined) return [];
  return [{ path: `${path}.patch`, message: `${patch.kind} cannot be written by a patch: ${instead}` }];
}

/** How deep a patch goes into this path: to its end, or to a map that it deletes. Undefined where it does not touch it. */
function touched(
  value: unknown,
  path: readonly string[],
  above: readonly string[] = [],
): readonly string[] | undefined {
  const [key, ...rest] = path;
  if (value === undefined) return undefined;
  if (key === undefined || (isMapping(value) && "$patch" in value)) return above;
  return isMapping(value) ? touched(value[key], rest, [...above, key]) : undefined;
}

function tagOf(image: string): string | undefined {
  return /:([^:/@]+)(@.*)?$/.exec(image)?.[1];
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  return isMapping(value) ? valueAt(value[key], rest) : undefined;
}
