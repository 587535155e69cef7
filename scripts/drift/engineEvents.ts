// What a refresh found, from the engine's own record of it: an event in JSON after the other, secrets masked.

/** A resource that a refresh looked at. */
export interface Seen {
  readonly type: string;
  readonly name: string;
  /** "same", "update" where it differs, "delete" where it is gone. */
  readonly op: string;
  /** Its outputs in the state, and as they were found. */
  readonly was: Outputs;
  readonly is: Outputs;
  /** Paths of what differs, where the provider tells: "labels.role", "rules[2]". */
  readonly differs: readonly string[];
  /** What was said of it that stays after the run. */
  readonly warnings: readonly string[];
}

export type Outputs = Readonly<Record<string, unknown>>;

/** A resource that could not be looked at. */
export interface Failed {
  readonly type: string;
  readonly name: string;
  /** In the provider's words. */
  readonly why: string;
}

/** What a refresh did. */
export interface Refresh {
  readonly resources: readonly Seen[];
  readonly failed: readonly Failed[];
  /** What went wrong with no resource in particular. */
  readonly errors: readonly string[];
  /** Whether the engine came to the end. */
  readonly isWhole: boolean;
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

/** Reads the record; what was cut off in the middle is not whole. */
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
      urn === "" ? [] : [{ ...partsOf(urn), why: message.replace(/^(preview|update) failed: /i, "") }],
    ),
    // That something failed is no reason; the rest are.
    errors: errors.flatMap(({ urn = "", message }) =>
      urn !== "" || /^(preview|update) failed$/.test(message) ? [] : [message],
    ),
    isWhole: events.some(({ summaryEvent }) => summaryEvent !== undefined),
  };
}

/** `urn:pulumi:<stack>::<project>::<parents' types>$<type>::<name>` */
function partsOf(urn: string): Pick<Seen, "type" | "name"> {
  const [, , types = "", ...name] = urn.split("::");
  return { type: types.slice(types.lastIndexOf("$") + 1), name: name.join("::") };
}

/** The engine leaves marks for colours in what it says. */
function withoutMarkup(message: string): string {
  return message.replace(/<\{%[^%]*%\}>/g, "").trim();
}
