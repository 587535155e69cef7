import type { ConfigPatch, MachineConfigInput, MachineNode, UserPatch } from "../machineInput.ts";

/** The person's own patches, the open ones before the secret ones, each in the order given. */
export function userPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  return [...input.patches, ...input.secretPatches]
    .filter((patch) => {
      // Both are asked before the answer: a wrong name is an error also in a patch that is off.
      const wanted = [isOn(patch, input), isFor(patch, input, node)];
      return wanted.every(Boolean);
    })
    .map(({ patch }) => patch);
}

function isOn({ name, when }: UserPatch, { switches }: MachineConfigInput): boolean {
  if (when === undefined) {
    return true;
  }
  const on = Object.hasOwn(switches, when) ? switches[when] : undefined;
  if (on === undefined) {
    throw new Error(`patch '${name}': 'when' names no switch '${when}'; there are: ${listed(Object.keys(switches))}`);
  }
  return on;
}

function isFor({ name, role, nodes }: UserPatch, input: MachineConfigInput, node: MachineNode): boolean {
  const known = input.nodes.map((other) => other.name);
  const unknown = nodes?.filter((wanted) => !known.includes(wanted)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`patch '${name}': 'nodes' names no node ${listed(unknown)}; there are: ${listed(known)}`);
  }
  return (role === undefined || role === node.role) && (nodes === undefined || nodes.includes(node.name));
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.map((name) => `'${name}'`).join(", ");
}
