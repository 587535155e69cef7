import { isMapping } from "../../model/untyped.ts";
import { type ConfigChange, configChanges } from "./configDiff.ts";
import { type ConfigValue, configDocuments, mainDocument } from "./configDocuments.ts";
import rules from "./rebootRules.json" with { type: "json" };
import { isAtLeast } from "./versions.ts";
import { wantedTalos } from "./wantedTalos.ts";

/**
 * What Talos applies without a reboot, of the document without a kind; it applies every other document without one.
 * Source: CanApplyImmediate in siderolabs/talos internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_runtime.go, the same in 1.12 and
 * 1.13. lab/talosapi/rebootRules_test.go compares the list with that function, field by field.
 */
const immediate: readonly (readonly string[])[] = rules.immediate.map(keys);

/**
 * Blocks whose fields are compared one by one only if the block is in both configs: for Talos a block that is new, or that is
 * removed, is one change that needs a reboot.
 */
const blocks: readonly (readonly string[])[] = rules.comparedAsBlock.map(keys);

/**
 * The changes for which a node that runs `before` must reboot; none when Talos applies `after` without a reboot. Talos 1.14 and later apply everything so. A
 * node runs the Talos that `after` names: it is upgraded before it gets another config.
 */
export function rebootChanges(before: string, after: string): readonly ConfigChange[] {
  const { version = "" } = wantedTalos(after) ?? {};
  if (version.startsWith("1.") && isAtLeast(version, 14)) return [];
  const addedOrRemoved = blocks.filter((block) => hasBlock(before, block) !== hasBlock(after, block));
  return (configChanges(before, after) ?? []).filter(
    ({ document, path }) =>
      document === mainDocument && (!isBelowOne(path, immediate) || isBelowOne(path, addedOrRemoved)),
  );
}

function isBelowOne(path: readonly string[], ancestors: readonly (readonly string[])[]): boolean {
  return ancestors.some((ancestor) => ancestor.every((key, place) => path[place] === key));
}

function hasBlock(config: string, block: readonly string[]): boolean {
  let at: ConfigValue | undefined = configDocuments(config)?.find(({ title }) => title === mainDocument)?.body;
  for (const key of block) at = isMapping(at) ? at[key] : undefined;
  return isMapping(at);
}

function keys(path: string): readonly string[] {
  return path.split(".");
}
