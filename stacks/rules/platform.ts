import { platforms } from "../platforms/registry.ts";
import { rule } from "./rule.ts";

const names = platforms.map(({ name }) => name);

/** A section of another platform comes from another environment, and misleads readers of the file. */
export const foreignSections = rule(["platform", ...names], function* ({ platform, ...sections }) {
  for (const name of names) {
    if (name !== platform.name && sections[name] !== undefined) {
      yield { path: name, message: `is for platform '${name}', but platform is '${platform.name}': remove it` };
    }
  }
});

/** A platform's own keys of a node are not read on any other platform. */
export const foreignNodeKeys = rule(["platform", "nodes"], function* ({ platform, nodes }) {
  const owners = platforms
    .filter(({ name }) => name !== platform.name)
    .flatMap(({ name, nodeKeys }) => Object.keys(nodeKeys).map((key) => [key, name] as const));
  for (const [index, node] of nodes.entries()) {
    const set = new Set(Object.entries(node).flatMap(([key, value]) => (value === undefined ? [] : [key])));
    for (const [key, owner] of owners.filter(([key]) => set.has(key))) {
      const message = `is for platform '${owner}', but platform is '${platform.name}': remove it`;
      yield { path: `nodes[${index}].${key}`, message };
    }
    for (const [key, message] of Object.entries(platform.refusedNodeKeys).filter(([key]) => set.has(key))) {
      yield { path: `nodes[${index}].${key}`, message };
    }
  }
});
