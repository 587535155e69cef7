import type { Clock } from "./clock.ts";
import type { Condition, GateSettings, Verdict } from "./condition.ts";

/** One unmet condition. */
export interface Unmet {
  readonly phrase: string;
  readonly verdict: Exclude<Verdict, { kind: "ok" }>;
  /** For how long it has been unmet for that node or object, in seconds. */
  readonly seconds: number;
  /** Its failure persisted for so long that the wait ended. */
  readonly isStalled?: true;
}

/** Which conditions are unmet, and since when. */
export class History<Observation> {
  private readonly conditions: readonly Condition<Observation>[];
  private readonly clock: Clock;
  private readonly started: number;
  /** By condition, and node or object. */
  private since = new Map<string, number>();
  /** From the last observation; undefined before the first. */
  private unmet: readonly Unmet[] | undefined;

  constructor(conditions: readonly Condition<Observation>[], clock: Clock) {
    this.conditions = conditions;
    this.clock = clock;
    this.started = clock.now();
  }

  get seconds(): number {
    return this.secondsSince(this.started);
  }

  /** The permanent failures of all conditions, then everything else that is unmet in the first unmet condition. */
  judge(observation: Observation): readonly Unmet[] {
    const now = this.clock.now();
    const since = new Map<string, number>();
    const all = this.conditions.map((condition) =>
      condition
        .evaluate(observation)
        .filter((verdict) => verdict.kind !== "ok")
        .map((verdict): Unmet => {
          const key = keyOf({ phrase: condition.phrase, verdict });
          const began = this.since.get(key) ?? now;
          since.set(key, began);
          return { phrase: condition.phrase, verdict, seconds: this.secondsSince(began) };
        }),
    );
    this.since = since;
    const isFailed = ({ verdict }: Unmet) => verdict.kind === "failed";
    const first = all.find((unmet) => unmet.length > 0) ?? [];
    this.unmet = [...all.flat().filter(isFailed), ...first.filter((unmet) => !isFailed(unmet))];
    return this.unmet;
  }

  progress(settings: GateSettings): string {
    if (this.unmet === undefined || this.unmet.length === 0)
      return `all conditions are met, and must stay so for ${settings.stableSeconds} s`;
    return describeUnmet(this.unmet);
  }

  /** Whether there was an observation at all. */
  get hasObserved(): boolean {
    return this.unmet !== undefined;
  }

  /** The last unmet conditions, each with its duration; none if all were met, or nothing was observed. */
  unmetInTheEnd(): readonly Unmet[] {
    return (this.unmet ?? []).map((one) => {
      const began = this.since.get(keyOf(one)) ?? this.started;
      return { ...one, seconds: this.secondsSince(began) };
    });
  }

  private secondsSince(moment: number): number {
    return (this.clock.now() - moment) / 1000;
  }
}

/** The condition, and the node or object. */
export function keyOf({ phrase, verdict }: Pick<Unmet, "phrase" | "verdict">): string {
  return JSON.stringify([phrase, verdict.where]);
}

/** It is not known to be unmet: it could not be observed. */
export function isUnseen({ verdict }: Unmet): boolean {
  return verdict.kind === "pending" && verdict.unseen === true;
}

/** The unmet conditions in one short line: the first few by name, and what the gate waits for. */
export function describeUnmet(unmet: readonly Unmet[]): string {
  const [first] = unmet;
  if (first === undefined) return "";
  const named = unmet.slice(0, 3).map(describe);
  const more = unmet.length > named.length ? ` (and ${unmet.length - named.length} more)` : "";
  return `${named.join("; ")}${more}; waits for ${first.phrase}`;
}

/** One of them: the node or object, and the reason. */
export function describe({ verdict: { where, reason } }: Unmet): string {
  return where === undefined ? reason : `${where}: ${reason}`;
}
