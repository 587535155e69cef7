// Which folders of the sources import which.
import { dirname, join } from "node:path";

/** Source texts by their path from the checkout. */
export type Sources = Readonly<Record<string, string>>;

export interface Import {
  readonly from: string;
  readonly to: string;
}

/** Everything that files import from the checkout, by static and dynamic imports. */
export function importsIn(sources: Sources): Import[] {
  const form = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
  return Object.entries(sources).flatMap(([file, text]) =>
    [...text.matchAll(form)].map(([, relative = ""]) => ({ from: file, to: join(dirname(file), relative) })),
  );
}

/** Dynamic imports in any other form, which `importsIn` would not see. */
export function otherDynamicImports(sources: Sources): string[] {
  const form = /\bimport\((?!"\.{1,2}\/[^"]+"\)).*/g;
  return Object.entries(sources).flatMap(([file, text]) => (text.match(form) ?? []).map((call) => `${file}: ${call}`));
}

/** The folder of a file. */
export const directory = dirname;

/** The first folder below components, stacks or scripts. */
export function topFolder(file: string): string {
  return dirname(file).split("/").slice(0, 2).join("/");
}

/**
 * The imports by which folders depend on each other in a circle, one group per circle: all imports between the folders of a group, as `file > file`. None if
 * dependencies have one direction.
 */
export function circles(imports: readonly Import[], folderOf: (file: string) => string): string[][] {
  const across = imports.filter(({ from, to }) => folderOf(from) !== folderOf(to));
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of across) {
    targets.set(folderOf(from), (targets.get(folderOf(from)) ?? new Set()).add(folderOf(to)));
  }
  const reach = new Map([...targets.keys()].map((folder) => [folder, reachable(targets, folder)]));
  const together = (one: string, other: string) => reach.get(one)?.has(other) && reach.get(other)?.has(one);
  const groups = Map.groupBy(
    across.filter(({ from, to }) => together(folderOf(from), folderOf(to))),
    ({ from }) =>
      [...reach.keys()]
        .filter((folder) => together(folder, folderOf(from)))
        .sort()
        .join(", "),
  );
  return [...groups.values()].map((group) => group.map(({ from, to }) => `${from} > ${to}`).sort());
}

function reachable(targets: ReadonlyMap<string, ReadonlySet<string>>, start: string): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of targets.get(folder) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}
