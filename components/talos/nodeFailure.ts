import type { FailureCode } from "../errors/catalogue.ts";
import { classify, type ErrorContext } from "../errors/classify.ts";
import { classifyKubernetes } from "../errors/classifyKubernetes.ts";
import type { FailureDetails } from "../errors/failure.ts";
import { failureMessage } from "../errors/failureMessage.ts";
import { KubernetesError } from "../kubernetes/client.ts";
import { TurnLost } from "./controlPlaneTurn.ts";
import { OutOfTime } from "./followNode.ts";

/** Why a try with a node failed. */
export class NodeFailure extends Error {
  readonly code: FailureCode;
  readonly seen: string;
  /** Whether trying again may help. */
  readonly passing: boolean;
  readonly remedy: string | undefined;

  constructor(
    code: FailureCode,
    seen: string,
    { passing = false, remedy }: Partial<Pick<NodeFailure, "passing" | "remedy">> = {},
  ) {
    super(seen);
    this.code = code;
    this.seen = seen;
    this.passing = passing;
    this.remedy = remedy;
  }
}

/** Any error of a try with a node. Time that is up is `late` in the catalogue. */
export function asFailure(error: unknown, late: FailureCode, context: ErrorContext = {}): NodeFailure {
  if (error instanceof NodeFailure) return error;
  if (error instanceof TurnLost) return new NodeFailure(late, `left alone, because it failed before: ${error.message}`);
  if (error instanceof OutOfTime) {
    const last = error.cause === undefined ? "the node answers" : classify(error.cause).seen;
    return new NodeFailure(late, `${error.message}; last: ${last}`);
  }
  const { code, seen, passing, remedy } =
    error instanceof KubernetesError ? classifyKubernetes(error) : classify(error, context);
  return new NodeFailure(code, seen, { passing, remedy });
}

/** How a node came out of all its tries, as `pulumi up` prints it (S1.5). */
export interface NodeEnd {
  readonly node: string;
  readonly what: string;
  /** What the node was seen to be last. */
  readonly state: string;
  readonly attempts: number;
  readonly seconds: number;
}

export function endMessage(
  { code, seen, remedy }: NodeFailure,
  { node, what, state, attempts, seconds }: NodeEnd,
): string {
  const details: FailureDetails = {
    code,
    what,
    where: `${node}, ${state}, after ${attempts} ${attempts === 1 ? "try" : "tries"}`,
    seen,
    forSeconds: seconds,
    ...(remedy !== undefined && { remedy }),
  };
  return failureMessage(details);
}
