// The conditions that a graph of resources must meet, so that no stage starts while the gate before it is closed. Judged by what the engine receives, not by
// the code.

export interface GraphResource {
  readonly type: string;
  readonly name: string;
  /** `type name`, like all that follow. */
  readonly parent: string | undefined;
  readonly dependencies: readonly string[];
}

export interface Graph {
  readonly resources: readonly GraphResource[];
  readonly deletedWith: Readonly<Record<string, string>>;
}

/** One link of the chain. */
export interface Link {
  /** Types of what starts when the gate of the link before it opens: components, or resources that are in none. */
  readonly stages: readonly string[];
  /** Types of what starts with it too, and is proven by any gate after its first user. */
  readonly supplies?: readonly string[];
  /** Type of the gate after it, or `type name` if there are several: it opens when all of it is proven. */
  readonly gate: string;
  /** Whether its resources are in the cluster, and so are deleted with it. */
  readonly inCluster?: boolean;
  /** Whether it starts together with the link before it. What comes after them waits for both gates. */
  readonly isBeside?: boolean;
}

/** Every fault as text. What is on no link must have a type that `ground` names, and start before the first gate. */
export function graphFaults(
  { resources, deletedWith }: Graph,
  chain: readonly Link[],
  { ground, clusterIs }: { readonly ground: readonly string[]; readonly clusterIs: string },
): string[] {
  const byTitle = new Map(resources.map((resource) => [titleOf(resource), resource]));
  const top = (resource: GraphResource): GraphResource => {
    const above = byTitle.get(resource.parent ?? "");
    return above === undefined ? resource : top(above);
  };
  /** Everything that the engine waits for before it creates the resource: its own dependencies and those of its components. */
  const waitsFor = (resource: GraphResource): string[] => {
    const above = byTitle.get(resource.parent ?? "");
    return [...resource.dependencies, ...(above === undefined ? [] : waitsFor(above))];
  };
  const reach = (start: GraphResource | undefined, found = new Set<string>()): Set<string> => {
    for (const next of start === undefined ? [] : waitsFor(start)) {
      const resource = byTitle.get(next);
      if (found.has(next) || resource === undefined) continue;
      found.add(next);
      reach(resource, found);
    }
    return found;
  };
  const goesWith = (resource: GraphResource): string | undefined => {
    const above = byTitle.get(resource.parent ?? "");
    return deletedWith[titleOf(resource)] ?? (above && goesWith(above));
  };
  const parts = (types: readonly string[]) => resources.filter((resource) => types.includes(top(resource).type));
  const only = (type: string) => {
    const found = resources.filter((resource) => resource.type === type || titleOf(resource) === type);
    return found.length === 1 ? found[0] : undefined;
  };

  const known = [...ground, ...chain.flatMap(({ stages, supplies = [], gate }) => [...stages, ...supplies, gate])];
  const faults = resources
    .filter((resource) => !known.includes(top(resource).type) && !known.includes(titleOf(top(resource))))
    .map((resource) => `${titleOf(resource)} is of no stage`);
  const unknown = resources.flatMap((resource) =>
    resource.dependencies
      .filter((one) => !byTitle.has(one))
      .map((one) => `${titleOf(resource)} waits for ${one}, which is not there`),
  );
  faults.push(...unknown);

  /** The gates that the next link waits for, and those that the links beside it wait for. */
  let [before, beforeAll]: [GraphResource[], GraphResource[]] = [[], []];
  for (const [place, { stages, supplies = [], gate: type, inCluster = false, isBeside = false }] of chain.entries()) {
    const gate = only(type);
    if (gate === undefined) {
      faults.push(`there is not one gate ${type}`);
      continue;
    }
    for (const stage of [...stages, ...supplies]) {
      if (!resources.some((resource) => resource.type === stage)) faults.push(`there is no stage ${stage}`);
    }
    if (!isBeside) beforeAll = before;
    const proven = reach(gate);
    const provenLater = new Set(chain.slice(place).flatMap(({ gate }) => [...reach(only(gate))]));
    for (const resource of parts([...stages, ...supplies])) {
      const title = titleOf(resource);
      for (const one of beforeAll) {
        if (!waitsFor(resource).includes(titleOf(one))) faults.push(`${title} does not wait for ${titleOf(one)}`);
      }
      // A component is no more than its children.
      const isComponent = resources.some(({ parent }) => parent === title);
      const isSupply = supplies.includes(top(resource).type);
      if (!isComponent && !(isSupply ? provenLater : proven).has(title)) {
        faults.push(isSupply ? `no gate proves ${title}` : `${titleOf(gate)} opens without ${title}`);
      }
      if (inCluster && goesWith(resource) !== clusterIs) faults.push(`${title} is not deleted with ${clusterIs}`);
    }
    for (const one of beforeAll) {
      if (!proven.has(titleOf(one))) faults.push(`${titleOf(gate)} does not wait for ${titleOf(one)}`);
    }
    before = isBeside ? [...before, gate] : [gate];
  }
  return faults;
}

function titleOf({ type, name }: Pick<GraphResource, "type" | "name">): string {
  return `${type} ${name}`;
}
