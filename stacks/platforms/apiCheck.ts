// What the API of a platform reports of an environment before anything is created.
import type { Send } from "../../components/api/callApi.ts";
import type { FailureCode } from "../../components/errors/catalogue.ts";
import type { Fault } from "../base/fault.ts";

/** Something that an `up` would fail on; or only a warning. */
export interface ApiFinding extends Fault {
  readonly code: FailureCode;
  /** What to do, if more is known than the catalogue contains. */
  readonly remedy?: string | undefined;
  /** Does not stop a run, because it concerns nothing that the run creates, or may change by itself. */
  readonly isWarning?: boolean;
}

export interface ApiAnswers {
  readonly findings: readonly ApiFinding[];
  /** What the API did not answer, each with its reason. */
  readonly unchecked: readonly string[];
}

export interface ApiAccess {
  /** The environment's name, for commands in messages. */
  readonly environment: string;
  /** Secret. */
  readonly token: string;
  /** Until a call counts as not answered. */
  readonly deadlineSeconds: number;
  /** The ids in the state, where they are known. */
  readonly recorded?: readonly string[] | undefined;
  /** Whether what an earlier run created and could not record is in the state by now. */
  readonly isSettled: boolean;
  /** Default: over the network. */
  readonly send?: Send;
}

/** One of several equal findings: several nodes share a setting. */
export function distinct(findings: readonly ApiFinding[]): readonly ApiFinding[] {
  return [...new Map(findings.map((one) => [`${one.path}: ${one.message}`, one])).values()];
}

/** The path of a node's own key. By its name: an environment lists its nodes in any order. */
export function nodeKey(key: string, node: string): string {
  return `nodes[].${key} (${node})`;
}

/** A machine with the mark of this cluster that is in no state: its creation would fail. An `up` adopts what an earlier run left behind. */
export function unrecorded(
  machine: { readonly id: string; readonly title: string; readonly path: string },
  { recorded, isSettled }: Pick<ApiAccess, "recorded" | "isSettled">,
): readonly ApiFinding[] {
  if (recorded === undefined || recorded.includes(machine.id)) return [];
  const message = `${machine.title} has the mark of this cluster and is in no state${isSettled ? "" : ": 'up' adopts it if an earlier run left it"}`;
  return [{ code: "SLU-M122", path: machine.path, message, isWarning: !isSettled }];
}
