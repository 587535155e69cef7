import type { FailureCode } from "../../errors/catalogue.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { classifyKubernetes } from "../../kubernetes/classifyKubernetes.ts";
import { KubernetesError } from "../../kubernetes/client.ts";
import { count } from "../../model/count.ts";
import { classify, type ErrorContext } from "../client/classify.ts";
import { TurnLost } from "./controlPlaneTurn.ts";
import { OutOfTime } from "./followNode.ts";

/** Any error of an attempt with a node. `late` is the code for a timeout. */
export function asFailure(error: unknown, late: FailureCode, context: ErrorContext = {}): SluiceError {
  if (error instanceof SluiceError) return error;
  if (error instanceof TurnLost) {
    return new SluiceError({ code: late, seen: `not changed, because another control plane failed: ${error.message}` });
  }
  if (error instanceof OutOfTime) {
    const last = error.cause === undefined ? "the node answers" : classify(error.cause).seen;
    return new SluiceError({ code: late, seen: `${error.message}; last: ${last}` });
  }
  return new SluiceError(error instanceof KubernetesError ? classifyKubernetes(error) : classify(error, context));
}

/** The failure of all attempts with a node (S1.5). */
export interface NodeEnd {
  readonly node: string;
  readonly what: string;
  /** The last observed state of the node. */
  readonly state: string;
  readonly attempts: number;
  readonly seconds: number;
}

/** Turns the failure of one attempt into that of all attempts with the node. */
export function endFailure(failure: SluiceError, { node, what, state, attempts, seconds }: NodeEnd): SluiceError {
  const where = `${node}, ${state}, after ${count(attempts, "attempt")}`;
  return failure.with({ what, where, forSeconds: seconds });
}
