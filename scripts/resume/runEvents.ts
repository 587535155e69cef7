// What a run of the engine did, from its event log: JSON, one event a line.

import type { UnfinishedRelease } from "../../components/kubernetes/releaseRecords.ts";
import { partsOf, withoutMarkup } from "../drift/engineEvents.ts";
import { releaseOf } from "../stack/releases.ts";
import type { FailedResource } from "./transient.ts";

export interface RunEvents {
  /** One entry for each message of a failed resource. */
  readonly failed: readonly FailedResource[];
  /** Helm releases that could not be installed or changed: the operation, or an earlier one, was interrupted. */
  readonly unfinished: readonly UnfinishedRelease[];
  /** The URNs of what was created or changed. */
  readonly completed: readonly string[];
  /** Whether the preview failed: nothing was changed, and the user was not asked. */
  readonly isPreview: boolean;
}

interface Step {
  readonly metadata: {
    readonly op: string;
    readonly urn: string;
    readonly new?: { readonly inputs?: Readonly<Record<string, unknown>> | null } | null;
  };
  readonly planning?: boolean;
}

interface EngineEvent {
  readonly preludeEvent?: object;
  readonly resourcePreEvent?: Step;
  readonly resOutputsEvent?: Step;
  readonly resOpFailedEvent?: Step & { readonly status?: number };
  readonly summaryEvent?: { readonly isPreview?: boolean };
  readonly diagnosticEvent?: { readonly urn?: string; readonly message: string; readonly severity: string };
}

/** The engine's number for a failure after which the resource exists, incompletely. */
const partialFailure = 1;

/** Operations after which the next run has less to do. */
const changes = ["create", "create-replacement", "update", "import"];

export function readRunEvents(log: string): RunEvents {
  const events = log.split("\n").flatMap(parsed);
  const failed = events.flatMap(({ diagnosticEvent: event }): FailedResource[] => {
    if (event?.severity !== "error" || !event.urn) return [];
    const reason = withoutMarkup(event.message);
    // The engine's final error about the stack is no cause.
    return /^(preview|update) failed$/.test(reason) ? [] : [{ ...partsOf(event.urn), reason }];
  });
  const hasFailed = (urn: string) => {
    const { type, name } = partsOf(urn);
    return failed.some((one) => one.type === type && one.name === name);
  };
  /** The engine keeps what was created only partially, and updates it in the next run. */
  const isKept = (urn: string) =>
    events.some(({ resOpFailedEvent: event }) => event?.metadata.urn === urn && event.status === partialFailure);
  return {
    failed,
    unfinished: events.flatMap(({ resourcePreEvent: event }): UnfinishedRelease[] => {
      if (event === undefined || !hasFailed(event.metadata.urn)) return [];
      const { op, urn, new: made } = event.metadata;
      const release = releaseOf(partsOf(urn).type, made?.inputs);
      return release === undefined ? [] : [{ ...release, isInState: op !== "create" || isKept(urn) }];
    }),
    completed: events.flatMap(({ resOutputsEvent: event }) =>
      event !== undefined && !event.planning && changes.includes(event.metadata.op) ? [event.metadata.urn] : [],
    ),
    isPreview: events.some(
      ({ resourcePreEvent, resOutputsEvent, summaryEvent }) =>
        resourcePreEvent?.planning || resOutputsEvent?.planning || summaryEvent?.isPreview,
    ),
  };
}

/** Whether a run with this event log was an update, or came to one after its preview. */
export function isUpdate(log: string): boolean {
  const events = log.split("\n").flatMap(parsed);
  return events.some((event) => event.preludeEvent !== undefined) && !readRunEvents(log).isPreview;
}

/** A line that was cut off is left out. */
function parsed(line: string): EngineEvent[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
