// What a refresh found, from the engine's event log: JSON, one event a line.

/** A resource that a refresh read. */
export interface Seen {
  readonly type: string;
  readonly name: string;
  /** "same", "update" if it differs, "delete" if it is gone. */
  readonly op: string;
  /** Its outputs in the state, and as the refresh read them. */
  readonly was: Outputs;
  readonly is: Outputs;
  /** Paths of the differences, if the provider reports them: "labels.role", "rules[2]". */
  readonly differs: readonly string[];
  /** Warnings about it. */
  readonly warnings: readonly string[];
}

export type Outputs = Readonly<Record<string, unknown>>;

/** A resource that could not be read. */
export interface Failed {
  readonly type: string;
  readonly name: string;
  /** In the provider's words. */
  readonly reason: string;
}

/** What a refresh did. */
export interface Refresh {
  readonly resources: readonly Seen[];
  readonly failed: readonly Failed[];
  /** Errors that belong to no resource. */
  readonly errors: readonly string[];
  /** Whether the engine completed. */
  readonly isComplete: boolean;
}

interface Metadata {
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  readonly old?: { readonly outputs?: Outputs } | null;
  readonly new?: { readonly outputs?: Outputs } | null;
  readonly diffs?: readonly string[] | null;
  readonly detailedDiff?: Readonly<Record<string, unknown>> | null;
}

interface EngineEvent {
  readonly resOutputsEvent?: { readonly metadata: Metadata };
  readonly diagnosticEvent?: {
    readonly urn?: string;
    readonly message: string;
    readonly severity: string;
    readonly ephemeral?: boolean;
  };
  readonly summaryEvent?: object;
}

/** Reads the log; a log without its end is not complete. */
export function readRefresh(log: string): Refresh {
  const events = log.split("\n").flatMap((line): EngineEvent[] => (line.trim() === "" ? [] : [JSON.parse(line)]));
  const said = events.flatMap(({ diagnosticEvent: event }) =>
    event === undefined || event.ephemeral ? [] : [{ ...event, message: withoutMarkup(event.message) }],
  );
  const errors = said.filter(({ severity }) => severity === "error");
  return {
    resources: events.flatMap(({ resOutputsEvent: event }): Seen[] => {
      if (event === undefined || event.metadata.type === "pulumi:pulumi:Stack") return [];
      const { op, urn, old, new: found, diffs, detailedDiff } = event.metadata;
      const differs = detailedDiff == null ? (diffs ?? []) : Object.keys(detailedDiff);
      const warnings = said
        .filter((one) => one.urn === urn && one.severity === "warning")
        .map(({ message }) => message);
      return [{ ...partsOf(urn), op, was: old?.outputs ?? {}, is: found?.outputs ?? {}, differs, warnings }];
    }),
    failed: errors.flatMap(({ urn = "", message }) =>
      urn === "" ? [] : [{ ...partsOf(urn), reason: message.replace(/^(preview|update) failed: /i, "") }],
    ),
    // The failure of the preview itself is no cause; the other errors are.
    errors: errors.flatMap(({ urn = "", message }) =>
      urn !== "" || /^(preview|update) failed$/.test(message) ? [] : [message],
    ),
    isComplete: events.some(({ summaryEvent }) => summaryEvent !== undefined),
  };
}

/** `urn:pulumi:<stack>::<project>::<parents' types>$<type>::<name>` */
export function partsOf(urn: string): Pick<Seen, "type" | "name"> {
  const [, , types = "", ...name] = urn.split("::");
  return { type: types.slice(types.lastIndexOf("$") + 1), name: name.join("::") };
}

/** The engine marks colours in its messages. */
export function withoutMarkup(message: string): string {
  return message.replace(/<\{%[^%]*%\}>/g, "").trim();
}
