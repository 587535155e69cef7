// What was seen on real clusters, cut to a control plane and two workers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Condition, Verdict } from "../../../components/gates/gateDefinition.ts";
import type { KubernetesEvent, KubernetesNode, Pod } from "../../../components/kubernetes/objects.ts";

export const nodes = ["cp-1", "w-1", "w-2"];
export const credentials = { kubeconfig: "" };

/** A recording, read anew each time, so that a test may change it. */
export function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../fixtures/gates", `${name}.json`), "utf8"));
}

/** As it is seen while the API answers. */
export function look<T>(recording: T): T & { readonly unreachable: undefined } {
  return { ...recording, unreachable: undefined };
}

export const recordedNodes = () => recorded<Record<"healthy" | "withoutNetwork", readonly KubernetesNode[]>>("nodes");
export const podsOnW1 = () =>
  recorded<Record<"held" | "crash" | "image", { readonly pod: Pod; readonly events: readonly KubernetesEvent[] }>>(
    "podsOnW1",
  );

/** All that the conditions say, in their order. */
export function verdicts<Observation>(
  conditions: readonly Condition<Observation>[],
  observation: Observation,
): readonly Verdict[] {
  return conditions.flatMap((condition) => condition.evaluate(observation));
}
