import type { PatchSettings } from "../../../model/settings/patch.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/** The user's own patches, the plain ones before the secret ones, each in the given order. */
export function userPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  return [...input.patches, ...input.secretPatches]
    .filter((patch) => {
      // Both are evaluated first: a wrong name is an error even in a patch that is off.
      const wanted = [isOn(patch, input), isFor(patch, input, node)];
      return wanted.every(Boolean);
    })
    .map(({ patch }) => patch);
}

function isOn({ name, when }: PatchSettings, { switches }: MachineConfigInput): boolean {
  if (when === undefined) {
    return true;
  }
  const on = Object.hasOwn(switches, when) ? switches[when] : undefined;
  if (on === undefined) {
    throw new Error(`patch '${name}': 'when' names no switch '${when}'; there are: ${listed(Object.keys(switches))}`);
  }
  return on;
}

function isFor({ name, role, nodes }: PatchSettings, input: MachineConfigInput, node: MachineNode): boolean {
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
