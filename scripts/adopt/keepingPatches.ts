// The patches with which an environment keeps what runs, in as few entries as possible. Pure.
import { stringify } from "yaml";
import type { Role } from "../../components/model/role.ts";
import type { PatchSettings } from "../../components/model/settings/patch.ts";
import { isMapping, record } from "../../components/model/untyped.ts";
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";
import { patchesBetween } from "../../components/talos/config/patchesBetween.ts";
import { redact } from "../../components/talos/config/redact.ts";
import { kubernetesImages, ownedConfig, ownedDocuments } from "../../stacks/rules/ownedConfig.ts";

export interface KeptNode {
  readonly name: string;
  readonly role: Role;
  /** What it runs. Secret. */
  readonly config: string;
}

export interface KeepingPatches {
  readonly patches: readonly PatchSettings[];
  /** Those that contain a secret, and so have to be encrypted. */
  readonly secretPatches: readonly PatchSettings[];
}

const untouched = { places: [...Object.keys(ownedConfig), ...kubernetesImages], kinds: Object.keys(ownedDocuments) };

/** `wanted` has the configs without these patches, by node name. */
export function keepingPatches(nodes: readonly KeptNode[], wanted: Readonly<Record<string, string>>): KeepingPatches {
  const units = nodes.flatMap(({ name, config }) =>
    (patchesBetween(wanted[name] ?? "", config, untouched) ?? []).flatMap(leaves).map((leaf) => ({ leaf, node: name })),
  );
  const gone = new Set(units.filter(({ leaf }) => leaf.isRemoval).map(({ leaf }) => placeOf(leaf)));
  // The same for the same nodes is one patch.
  const shared = [...Map.groupBy(units, ({ leaf }) => JSON.stringify(leaf)).values()].flatMap(
    (same): readonly Unit[] => {
      const [first] = same;
      if (first === undefined) return [];
      const { leaf } = first;
      // A node that comes later gets all that Sluice writes: what is removed or replaced is so for these nodes only.
      const isForThese = gone.has(placeOf(leaf));
      const on = same.map(({ node }) => node);
      return [{ leaf, isSecret: isSecret(leaf), ...(isForThese ? { title: "own", nodes: on } : reach(on, nodes)) }];
    },
  );
  const groups = Map.groupBy(shared, ({ leaf, ...rest }) =>
    JSON.stringify([leaf.isRemoval, rest, leaf.path.length === 0 && leaf.value]),
  );
  const made = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const patch = group.reduce<ConfigPatch>((whole, { leaf }) => merged(whole, leaf), {});
    return [{ ...first, patch }];
  });
  // What removes comes before what adds.
  const inOrder = made.toSorted((a, b) => Number(b.leaf.isRemoval) - Number(a.leaf.isRemoval));
  const named = inOrder.map(({ leaf: _, isSecret: hidden, patch, title, ...on }, place) => ({
    hidden,
    entry: { name: `keep-${title}-${place + 1}`, ...on, patch } satisfies PatchSettings,
  }));
  const of = (hidden: boolean) => named.filter((one) => one.hidden === hidden).map(({ entry }) => entry);
  return { patches: of(false), secretPatches: of(true) };
}

/** A leaf with the nodes that it is for, as a patch names them. */
interface Unit extends Pick<PatchSettings, "role" | "nodes"> {
  readonly leaf: Leaf;
  readonly title: string;
  readonly isSecret: boolean;
}

/** A value at its place in a patch; a config document is one value. */
interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly isRemoval: boolean;
}

/** Of a value, or of a config document. */
function placeOf({ path, value }: Leaf): string {
  const { kind, name } = path.length === 0 ? record(value) : {};
  return JSON.stringify([path, kind, name]);
}

function leaves(patch: ConfigPatch): readonly Leaf[] {
  if (patch.kind !== undefined) return [{ path: [], value: patch, isRemoval: patch.$patch === "delete" }];
  const walk = (value: unknown, path: readonly string[]): readonly Leaf[] => {
    const isRemoval = isMapping(value) && value.$patch === "delete";
    if (!isMapping(value) || isRemoval || Object.keys(value).length === 0) return [{ path, value, isRemoval }];
    return Object.entries(value).flatMap(([key, inner]) => walk(inner, [...path, key]));
  };
  return walk(patch, []);
}

function merged(whole: ConfigPatch, { path: [key, ...rest], value }: Pick<Leaf, "path" | "value">): ConfigPatch {
  if (key === undefined) return value as ConfigPatch;
  const below = whole[key];
  return { ...whole, [key]: rest.length === 0 ? value : merged(isMapping(below) ? below : {}, { path: rest, value }) };
}

function isSecret(leaf: Leaf): boolean {
  const text = stringify(merged({}, leaf));
  return redact(text) !== text;
}

/** The keys that limit a patch to these nodes, and their name. */
function reach(on: readonly string[], nodes: readonly KeptNode[]): Pick<Unit, "title" | "role" | "nodes"> {
  const isAll = (candidates: readonly KeptNode[]) =>
    candidates.length === on.length && candidates.every(({ name }) => on.includes(name));
  if (isAll(nodes)) return { title: "all" };
  const role = (["controlplane", "worker"] as const).find((one) => isAll(nodes.filter((node) => node.role === one)));
  if (role !== undefined) return { title: role, role };
  return { title: on.length === 1 ? (on[0] ?? "") : "some", nodes: on };
}
