// Observations of real clusters, cut to a control plane and two workers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesEvent, KubernetesNode, Pod } from "../../../components/kubernetes/objects.ts";
import type { Condition, Verdict } from "../../../components/waiting/condition.ts";

export const nodes = ["cp-1", "w-1", "w-2"];
export const credentials = { kubeconfig: "" };

/** A recording, read again each time, so that a test may change it. */
export function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../fixtures/gates", `${name}.json`), "utf8"));
}

/** An observation while the API answers. */
export function look<T>(recording: T): T & { readonly unreachable: undefined } {
  return { ...recording, unreachable: undefined };
}

export const recordedNodes = () => recorded<Record<"healthy" | "withoutNetwork", readonly KubernetesNode[]>>("nodes");
export const podsOnW1 = () =>
  recorded<Record<"held" | "crash" | "image", { readonly pod: Pod; readonly events: readonly KubernetesEvent[] }>>(
    "podsOnW1",
  );

/** All verdicts of the conditions, in order. */
export function verdicts<Observation>(
  conditions: readonly Condition<Observation>[],
  observation: Observation,
): readonly Verdict[] {
  return conditions.flatMap((condition) => condition.evaluate(observation));
}
