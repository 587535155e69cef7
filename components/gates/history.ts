import type { Clock } from "./clock.ts";
import type { Condition, GateSettings, Verdict } from "./gateDefinition.ts";

/** One thing that was not so. */
export interface Unmet {
  readonly phrase: string;
  readonly verdict: Exclude<Verdict, { kind: "ok" }>;
  /** How long it has been so for that node or object, in seconds. */
  readonly seconds: number;
}

/** What was not so, and since when. */
export class History<Observation> {
  private readonly conditions: readonly Condition<Observation>[];
  private readonly clock: Clock;
  private readonly started: number;
  /** By condition, and node or object. */
  private since = new Map<string, number>();
  /** Of the last observation; undefined before the first. */
  private unmet: readonly Unmet[] | undefined;

  constructor(conditions: readonly Condition<Observation>[], clock: Clock) {
    this.conditions = conditions;
    this.clock = clock;
    this.started = clock.now();
  }

  get seconds(): number {
    return this.secondsSince(this.started);
  }

  /** What cannot pass, of any condition; then all of the first condition that does not hold. */
  judge(observation: Observation): readonly Unmet[] {
    const now = this.clock.now();
    const since = new Map<string, number>();
    const all = this.conditions.map((condition) =>
      condition
        .evaluate(observation)
        .filter((verdict) => verdict.kind !== "ok")
        .map((verdict): Unmet => {
          const key = keyOf(condition.phrase, verdict.where);
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
    if (this.unmet === undefined || this.unmet.length === 0) return `holds, and has to for ${settings.stable} s`;
    return describeUnmet(this.unmet);
  }

  /** The last reasons, each for as long as it stood; there is always one. */
  unmetInTheEnd(settings: GateSettings): readonly Unmet[] {
    const unmet = this.unmet?.map((one) => {
      const began = this.since.get(keyOf(one.phrase, one.verdict.where)) ?? this.started;
      return { ...one, seconds: this.secondsSince(began) };
    });
    if (unmet !== undefined && unmet.length > 0) return unmet;
    const [phrase, reason] =
      unmet === undefined
        ? [this.conditions[0]?.phrase ?? "it to be seen", "nothing was seen"]
        : ["it to hold", `it held, but not yet for ${settings.stable} s without a break`];
    return [{ phrase, verdict: { kind: "pending", reason, unseen: true }, seconds: this.seconds }];
  }

  private secondsSince(moment: number): number {
    return (this.clock.now() - moment) / 1000;
  }
}

function keyOf(phrase: string, where: string | undefined): string {
  return JSON.stringify([phrase, where]);
}

/** It is not that it does not hold: nobody could look. */
export function isUnseen({ verdict }: Unmet): boolean {
  return verdict.kind === "pending" && verdict.unseen === true;
}

/** In one line, and a row is short: what is not so, the first of them by name, and what is waited for. */
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
