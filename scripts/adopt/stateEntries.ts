// What exists, as a state has it before the engine has read it. Pure.
import { type ExportedResource, providerOf, urnWithin } from "../../components/lifecycle/orphans.ts";
import { text } from "../../components/model/untyped.ts";
import type { FoundResource } from "../../stacks/platforms/foundMachines.ts";

/** The mark of a secret in a state; the engine encrypts it. */
const secretMark = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };

export type StateEntry = ExportedResource & { readonly urn: string };

/** `kept` has the components and providers of all of them. The engine's refresh reads the rest. */
export function stateEntries(
  found: readonly FoundResource[],
  kept: readonly ExportedResource[],
): readonly StateEntry[] {
  return found.map(({ type, name, component, id, inputs }) => {
    const parent = kept.find(
      ({ urn, type: own }) => own === component.type && text(urn).endsWith(`::${component.name}`),
    );
    const provider = providerOf(type, kept);
    if (parent === undefined || provider === undefined) throw new Error(`the state has nothing for ${type} ${name}`);
    return {
      urn: urnWithin(parent, type, name),
      custom: true,
      id,
      type,
      inputs: inputs ?? {},
      outputs:
        inputs === undefined ? {} : { ...inputs, __inputs: { ...secretMark, plaintext: JSON.stringify(inputs) } },
      parent: text(parent.urn),
      ...(parent.protect === true && { protect: true }),
      provider,
    };
  });
}
