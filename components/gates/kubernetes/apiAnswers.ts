import type { Condition } from "../../waiting/condition.ts";

/** Keeps every gate on Kubernetes closed while the API does not answer. */
export const apiAnswers: Condition<{ readonly unreachable: string | undefined }> = {
  phrase: "the Kubernetes API to answer",
  evaluate: ({ unreachable }) => (unreachable === undefined ? [] : [{ kind: "pending", reason: unreachable }]),
};
