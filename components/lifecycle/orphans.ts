// Finds resources that exist and are in no state, although a run of this stack created them: the run was killed, or lost the answer to a call.
// docs/decisions/orphans.md
import { list, record, text } from "../model/untyped.ts";
import { type CreatedResource, type CreatedResources, keyOf, type ResourceKey } from "./createdResource.ts";

/** A resource as `pulumi stack export` prints it. */
export type ExportedResource = Readonly<Record<string, unknown>>;

/** The part of a state that matters here. */
export interface StackRecord {
  readonly resources: readonly ExportedResource[];
  /** The operations that a killed run had started. */
  readonly pending: readonly ExportedResource[];
  /** When runs of the stack were in progress that ended by themselves; undefined if nobody has asked. */
  readonly runs?: readonly RunTime[];
}

/** Milliseconds since 1970. */
export interface RunTime {
  readonly began: number;
  readonly ended: number;
}

/** An orphan of this stack, with its entry for the state. */
export interface Adoption {
  readonly orphan: CreatedResource;
  readonly entry: ExportedResource & { readonly urn: string };
}

/** A resource whose owner cannot be determined. */
export interface Doubt {
  readonly orphan: CreatedResource;
  readonly reason: string;
}

export interface Orphans {
  /** Ordered so that containers come before what is in them. */
  readonly adopted: readonly Adoption[];
  readonly doubted: readonly Doubt[];
  /** Resources of others that keep the cluster's own from being deleted; they are not touched. */
  readonly blockers: CreatedResources["blockers"];
}

export function findOrphans(
  { component, resources, blockers }: CreatedResources,
  { resources: kept, pending, runs = [] }: StackRecord,
): Orphans {
  const known = new Map(
    kept.map((resource) => [keyOf({ type: text(resource.type), id: text(resource.id) }), resource]),
  );
  const parents = new Map(kept.map((resource) => [text(resource.type), resource]));
  const started = creations(pending);
  const begin = beginOf(kept);
  const hasRoot = resources.some((created) => created.isRoot && known.has(keyOf(created)));
  const urns = new Map(resources.flatMap((created) => [...urnIn(known.get(keyOf(created)), keyOf(created))]));
  const adopted: Adoption[] = [];
  const doubted: Doubt[] = [];

  for (const orphan of inOrder(resources.filter((created) => !known.has(keyOf(created))))) {
    const doubt = (reason: string) => void doubted.push({ orphan, reason });
    const parent = parents.get(orphan.component ?? component);
    const provider = providerOf(orphan.type, kept);
    if (parent === undefined || provider === undefined) {
      doubt("the state of this environment has nothing of its kind");
      continue;
    }
    const urn = urnOf(orphan, parent);
    const other = kept.find((resource) => resource.urn === urn && resource.delete !== true);
    if (other !== undefined) {
      if (orphan.isUnmarked !== true) doubt(`the state has another one in its place, with id ${text(other.id)}`);
      continue;
    }
    // Someone else may have created it, unless what contains it belongs to this stack.
    const isInOurs = orphan.within.every((key) => urns.has(key));
    const moment = orphan.created === undefined ? Number.NaN : Date.parse(orphan.created);
    const isFresh = !orphan.isUsed && begin !== undefined && moment >= begin;
    // The plugin was killed, or lost an answer, and the engine noted that as a failure.
    const isOfRun = runs.some(
      ({ began, ended }) => moment >= began - clockToleranceMs && moment <= ended + clockToleranceMs,
    );
    if (!isInOurs || !(started.has(urn) || hasRoot || orphan.within.length > 0 || isFresh || isOfRun)) {
      doubt("it may belong to a cluster of the same name in another state");
      continue;
    }
    const dependencies = [...orphan.within, ...(orphan.uses ?? [])].flatMap((key) => urns.get(key) ?? []);
    adopted.push({ orphan, entry: entryOf(orphan, { urn, parent, provider, dependencies }) });
    urns.set(keyOf(orphan), urn);
  }
  const isOurs = (key: ResourceKey) => urns.has(key);
  const inOurs = doubted.flatMap(({ orphan }) => (orphan.within.some(isOurs) ? [orphan] : []));
  const hasAny = resources.some((created) => created.isRoot && isOurs(keyOf(created)));
  return { adopted, doubted, blockers: hasAny ? [...blockers, ...inOurs] : [] };
}

/** The URNs that a killed run had started to create. */
function creations(pending: readonly ExportedResource[]): ReadonlySet<string> {
  return new Set(pending.flatMap(({ type, resource }) => (type === "creating" ? [text(record(resource).urn)] : [])));
}

/** When the first resource of the stack was created: older resources belong to others. Clouds report whole seconds. */
function beginOf(kept: readonly ExportedResource[]): number | undefined {
  const moments = kept.flatMap(({ created }) => (created === undefined ? [] : [Date.parse(text(created))]));
  return moments.length === 0 ? undefined : Math.min(...moments) - clockToleranceMs;
}

/** Tolerance for differences between the platform's clock and this host's. */
const clockToleranceMs = 5000;

/** Dependencies come first: a state refuses a resource that is listed before one that it depends on. */
function inOrder(resources: readonly CreatedResource[]): readonly CreatedResource[] {
  const own = new Map(resources.map((created) => [keyOf(created), created]));
  const depth = ({ within, uses = [] }: CreatedResource): number =>
    1 + Math.max(0, ...[...within, ...uses].flatMap((key) => own.get(key) ?? []).map(depth));
  return resources.toSorted((a, b) => depth(a) - depth(b));
}

function* urnIn(resource: ExportedResource | undefined, key: string): Iterable<[string, string]> {
  if (resource !== undefined) yield [key, text(resource.urn)];
}

function urnOf({ type, part }: CreatedResource, parent: ExportedResource): string {
  return urnWithin(parent, type, `${splitUrn(text(parent.urn))[2]}-${part}`);
}

/** Of a part of a component. */
export function urnWithin(parent: ExportedResource, type: string, name: string): string {
  const [stack = "", types = ""] = splitUrn(text(parent.urn));
  return `${stack}::${types}$${type}::${name}`;
}

/** `urn:pulumi:<stack>::<project>`, the types and the name. */
function splitUrn(urn: string): readonly string[] {
  const [stack, project, types, ...name] = urn.split("::");
  return [`${stack}::${project}`, types ?? "", name.join("::")];
}

/** The reference to the program's provider, as other resources of the same package have it. */
export function providerOf(type: string, kept: readonly ExportedResource[]): string | undefined {
  const [name = ""] = type.split(":");
  const sibling = kept.find(
    (resource) => text(resource.type).startsWith(`${name}:`) && resource.provider !== undefined,
  );
  if (sibling !== undefined) return text(sibling.provider);
  const made = kept.find(
    ({ type, urn }) => type === `pulumi:providers:${name}` && !/::default(_[^:]*)?$/.test(text(urn)),
  );
  return made === undefined ? undefined : `${text(made.urn)}::${text(made.id)}`;
}

interface Place {
  readonly urn: string;
  readonly parent: ExportedResource;
  readonly provider: string;
  readonly dependencies: readonly string[];
}

/** Without inputs and outputs: the engine's refresh reads all of them, as for an import. */
function entryOf(
  { type, id, importId = id, isUnfinished }: CreatedResource,
  { urn, parent, provider, dependencies }: Place,
): Adoption["entry"] {
  return {
    urn,
    custom: true,
    id: importId,
    type,
    inputs: {},
    outputs: {},
    parent: text(parent.urn),
    ...(parent.protect === true && { protect: true }),
    // The next `up` recreates it.
    ...(isUnfinished === true && { taint: true }),
    ...(dependencies.length > 0 && { dependencies }),
    provider,
  };
}

/** An operation that a run had started, as `pulumi stack export` prints it. */
export function stackRecord(deployment: unknown): StackRecord {
  const { resources, pending_operations: pending } = record(deployment);
  return { resources: list(resources).map(record), pending: list(pending).map(record) };
}
