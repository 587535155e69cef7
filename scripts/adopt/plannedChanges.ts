// What the next `up` would do with resources of the platform that were taken into the state, by the engine's own preview. Pure.
import { list, record, text } from "../../components/model/untyped.ts";
import type { PlatformAdoption } from "../../stacks/platforms/platform.ts";
import type { AdoptionFault } from "./clusterFaults.ts";

export interface PlannedChanges {
  /** Without an effect on nodes. */
  readonly harmless: readonly string[];
  /** What may have one, such as the rules of a firewall. */
  readonly differences: readonly string[];
  /** What would turn a machine off, or delete something. */
  readonly faults: readonly AdoptionFault[];
}

export const noChanges: PlannedChanges = { harmless: [], differences: [], faults: [] };

/** `log` is the engine's record of a preview: an event in each line. `urns` are those of the adopted resources. */
export function plannedChanges(
  log: string,
  urns: ReadonlySet<string>,
  { harmless, disruptive }: NonNullable<PlatformAdoption["planned"]>,
): PlannedChanges {
  const steps = log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => record(record(record(JSON.parse(line)).resourcePreEvent).metadata))
    .filter(({ urn }) => urns.has(text(urn)));
  const all = steps.map((step) => judged(step, harmless, disruptive));
  return {
    harmless: all.flatMap((one) => one.harmless ?? []),
    differences: all.flatMap((one) => one.differences ?? []),
    faults: all.flatMap((one) => one.faults ?? []),
  };
}

type Step = Readonly<Record<string, unknown>>;

function judged(step: Step, harmless: readonly string[], disruptive: readonly string[]): Partial<PlannedChanges> {
  const { op, urn } = step;
  const name = text(urn).split("::").at(-1) ?? "";
  const where = `${text(step.type).split(":").at(-1)} ${name}`;
  if (op === "same") return {};
  const keys = changedKeys(step);
  const words = `${where}: ${keys.map(({ key, kind }) => `${kind} ${key}`).join(", ")}`;
  if (op !== "update") {
    const seen = `the next 'up' would replace it, because of ${keys.map(({ key }) => key).join(", ") || "its state"}`;
    return { faults: [{ where, seen, remedy: "set in the environment what the platform has" }] };
  }
  const off = keys.filter(({ key }) =>
    disruptive.some((one) => key === one || key.startsWith(`${one}.`) || key.startsWith(`${one}[`)),
  );
  if (off.length > 0) {
    const seen = `the next 'up' would change ${off.map(({ key }) => key).join(", ")}, for which machines are turned off`;
    return { faults: [{ where, seen, remedy: "set in the environment what the platform has" }] };
  }
  // A label that is taken away may be what something else selects by.
  const isListed = (key: string) =>
    [key.replace(/[.[].*$/, ""), key.replace(/\[\d+\]/g, "[]")].some((one) => harmless.includes(one));
  const isHarmless = keys.every(({ key, kind }) => isListed(key) && kind !== "-");
  return isHarmless ? { harmless: [words] } : { differences: [words] };
}

const kinds: Readonly<Record<string, string>> = { add: "+", update: "~", delete: "-" };

function changedKeys({ detailedDiff, diffs }: Step): readonly { readonly key: string; readonly kind: string }[] {
  const detailed = Object.entries(record(detailedDiff)).map(([key, value]) => ({
    key,
    kind: kinds[text(record(value).diffKind).replace(/-replace$/, "")] ?? "~",
  }));
  return detailed.length > 0 ? detailed : list(diffs).map((key) => ({ key: text(key), kind: "~" }));
}
