// The chain of a graph: what is created between every two gates, in which order, and for which nodes.
import { gateOf, kindOf } from "../base/resourceWords.ts";
import type { GraphResource } from "./programGraph.ts";

/** What is between two gates, and the gates after it: usually one. */
export interface Stage {
  readonly items: readonly Item[];
  /** From each item to those that wait for it, by their indices in `items`; without links that follow from others. */
  readonly links: readonly (readonly [from: number, to: number])[];
  readonly gates: readonly ChainGate[];
}

/** What is drawn as one box: resources of a component, or the same kind of resource for several nodes. */
export interface Item {
  readonly title: string;
  /** The kinds of its resources, with how many there are of each; empty if the title contains that. */
  readonly kinds: readonly string[];
  /** The nodes for which it exists, if there is one for each of several nodes. */
  readonly nodes: readonly string[];
  /** Its row in its stage, from 0 at the top: below everything that it waits for. */
  readonly layer: number;
  /** Whether a gate waits for it. What is only computed creates nothing that a gate could wait for. */
  readonly role: "proven" | "unproven" | "computed";
}

export interface ChainGate {
  readonly name: string;
  readonly deadlineSeconds: number | undefined;
}

export function chainOf(resources: readonly GraphResource[], nodes: readonly string[]): Stage[] {
  const graph = new Graph(resources);
  const drawn = resources.filter((one) => gateOf(one.type) === undefined && graph.isDrawn(one));
  const gates = resources.filter(({ type }) => gateOf(type) !== undefined);
  const last = Math.max(0, ...[...drawn, ...gates].map((one) => graph.gatesBefore(one)));
  return Array.from({ length: last + 1 }, (_, place) => {
    const inStage = (one: GraphResource) => graph.gatesBefore(one) === place;
    return {
      ...itemsOf(drawn.filter(inStage), nodes, graph),
      gates: gates.filter(inStage).map(({ type, deadlineSeconds }) => ({ name: gateOf(type) ?? "", deadlineSeconds })),
    };
  });
}

/** Determines what waits for what. */
class Graph {
  private readonly byTitle: ReadonlyMap<string, GraphResource>;
  private readonly parents: ReadonlySet<string | undefined>;
  private readonly ranks = new Map<GraphResource, number>();
  private readonly proven = new Set<GraphResource>();

  constructor(resources: readonly GraphResource[]) {
    this.byTitle = new Map(resources.map((one) => [titleOf(one), one]));
    this.parents = new Set(resources.map(({ parent }) => parent));
    for (const gate of resources.filter(({ type }) => gateOf(type) !== undefined)) this.prove(gate);
  }

  /** A component is drawn as its children, or as itself if it has none. */
  isDrawn(one: GraphResource): boolean {
    return !this.parents.has(titleOf(one));
  }

  parentOf({ parent = "" }: GraphResource): GraphResource | undefined {
    const above = this.byTitle.get(parent);
    return above?.isComponent ? above : undefined;
  }

  /** What the engine waits for before it creates a resource: its own dependencies and those of its components. */
  waitsFor(one: GraphResource): GraphResource[] {
    const own = one.dependencies.flatMap((title) => this.byTitle.get(title) ?? []);
    const above = this.parentOf(one);
    return above === undefined ? own : [...own, ...this.waitsFor(above)];
  }

  /** How many gates must open, one after the other, before a resource is created. */
  gatesBefore(one: GraphResource): number {
    const known = this.ranks.get(one);
    if (known !== undefined) return known;
    const rank = Math.max(
      0,
      ...this.waitsFor(one).map((before) => this.gatesBefore(before) + (gateOf(before.type) === undefined ? 0 : 1)),
    );
    this.ranks.set(one, rank);
    return rank;
  }

  isProven(one: GraphResource): boolean {
    return this.proven.has(one);
  }

  private prove(one: GraphResource): void {
    for (const before of this.waitsFor(one)) {
      if (this.proven.has(before)) continue;
      this.proven.add(before);
      this.prove(before);
    }
  }
}

/** Groups the resources of a stage, in layers: each item below all that it waits for. */
function itemsOf(resources: readonly GraphResource[], nodes: readonly string[], graph: Graph): Omit<Stage, "gates"> {
  const nodeOf = (one: GraphResource) => nodes.find((node) => one.name.endsWith(`-${node}`));
  const isInLane = (one: GraphResource) =>
    nodeOf(one) !== undefined && resources.filter(({ type }) => type === one.type).length > 1;
  const before = (one: GraphResource) => graph.waitsFor(one).filter((other) => resources.includes(other));
  const behindLanes = (one: GraphResource): boolean =>
    before(one).some((other) => isInLane(other) || behindLanes(other));
  /** A component may create something before and something after its machines: these are two items. */
  const keyOf = (one: GraphResource) => {
    const group = graph.parentOf(one);
    if (isInLane(one)) return `${one.type} of nodes`;
    return group === undefined ? titleOf(one) : `${titleOf(group)} ${behindLanes(one)}`;
  };
  const groups = [...Map.groupBy(resources, keyOf)];
  const place = new Map(groups.flatMap(([, members], index) => members.map((one) => [one, index] as const)));
  const placesBefore = (index: number) =>
    new Set((groups[index]?.[1] ?? []).flatMap((one) => before(one).map((other) => place.get(other) ?? index)));
  const links = groups.flatMap((_, to) =>
    [...placesBefore(to)].filter((from) => from !== to).map((from) => [from, to] as const),
  );
  const layers = layersOf(groups.length, links);
  const items = groups.map(([, members], index): Item => {
    const [first] = members as [GraphResource];
    const inLane = isInLane(first);
    const component = inLane ? undefined : graph.parentOf(first);
    const title = kindOf(component?.type ?? first.type);
    return {
      title,
      kinds: component === undefined ? [] : kindsOf(members, title),
      nodes: inLane ? nodes.filter((node) => members.some((one) => nodeOf(one) === node)) : [],
      layer: layers[index] ?? 0,
      role: roleOf(members, graph),
    };
  });
  return { items, links: withoutImplied(links) };
}

/** The layer of each item: directly above the first one that waits for it or, if none does, directly below the last one that it waits for. */
function layersOf(count: number, links: Stage["links"]): number[] {
  const below = Array.from({ length: count }, (_, place) => longestFrom(place, links));
  const deepest = Math.max(0, ...below);
  return below.map((own, place) => {
    const sources = links.filter(([, to]) => to === place).map(([from]) => deepest - (below[from] ?? 0));
    return own > 0 ? deepest - own : Math.max(-1, ...sources) + 1;
  });
}

/** How many items follow each other from this one on. Where two wait for each other, the first comes first. */
function longestFrom(place: number, links: Stage["links"], above: readonly number[] = []): number {
  const next = links.filter(([from, to]) => from === place && !above.includes(to)).map(([, to]) => to);
  return Math.max(0, ...next.map((to) => longestFrom(to, links, [...above, place]) + 1));
}

/** The text below the title: empty if it would repeat the title. */
function kindsOf(members: readonly GraphResource[], title: string): string[] {
  const kinds = [...Map.groupBy(members, ({ type }) => kindOf(type))];
  if (kinds.length === 1 && members.length === 1 && title.endsWith(kinds[0]?.[0] ?? "")) return [];
  return kinds.map(([kind, { length }]) => (length === 1 ? kind : `${length} × ${kind}`));
}

function roleOf(members: readonly GraphResource[], graph: Graph): Item["role"] {
  if (members.every(({ isComponent }) => isComponent)) return "computed";
  return members.some((one) => graph.isProven(one)) ? "proven" : "unproven";
}

/** Leaves out each link that is implied by others. */
function withoutImplied(links: Stage["links"]): Stage["links"] {
  const leads = (from: number, to: number, seen: ReadonlySet<number>): boolean =>
    links.some(([a, b]) => a === from && !seen.has(b) && (b === to || leads(b, to, new Set([...seen, b]))));
  return links.filter(
    ([from, to]) => !links.some(([a, b]) => a === from && b !== to && leads(b, to, new Set([from, b]))),
  );
}

function titleOf({ type, name }: GraphResource): string {
  return `${type} ${name}`;
}
