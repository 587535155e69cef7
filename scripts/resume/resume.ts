// Runs the engine again after a run that failed for transient reasons only. docs/decisions/resume.md

import { type Clock, pause } from "../../components/waiting/clock.ts";
import { BackOff, type Delays } from "../../components/waiting/rounds.ts";
import { kindOf } from "../base/resourceWords.ts";
import { type RunEvents, readRunEvents } from "./runEvents.ts";
import { type FailedResource, judge } from "./transient.ts";

/** Delays between two attempts. Their sum is longer than an outage of two minutes. */
const delays: Delays = { firstMs: 10_000, factor: 2, mostMs: 60_000 };

/** The number of attempts in a row that may complete nothing; the first run is one of them. */
const mostAttempts = 5;

/** Milliseconds after the first failure in which another attempt may start. */
const mostMs = 20 * 60_000;

/** A run of the engine. */
export interface EngineRun {
  readonly code: number;
  /** Its event log. */
  readonly log: string;
}

export interface ResumeOptions {
  /** Why the run must not be resumed, if so: "--no-resume". */
  readonly off?: string | undefined;
  /** Whether the engine asks the user before it changes anything. */
  readonly isAsked?: boolean;
  /** Runs the engine. `isConfirmed` if the user has agreed to the same plan before. */
  readonly run: (attempt: { readonly isConfirmed: boolean }) => Promise<EngineRun>;
  /** After each failed run: prepares the state for the next. */
  readonly settle: () => Promise<void>;
  /** Prepares another run, after one with this event log. */
  readonly prepare: (log: string) => Promise<void>;
  /** Why another run would do something different; undefined if it would do the same. */
  readonly obstacle: () => Promise<string | undefined>;
  readonly clock: Clock;
  /** Aborted once the user has interrupted the run. */
  readonly interrupted: AbortSignal;
  readonly print: (line: string) => void;
}

/** How it ended. */
export interface Resumed {
  /** The exit code of the last run. */
  readonly code: number;
  /** How often the engine ran again. */
  readonly times: number;
  /** Whether a resource failed in the last run. Otherwise the engine did not start, or the user did not agree to its plan. */
  readonly hasFailed: boolean;
  /** Why it did not run again, if the failure itself is not the reason. */
  readonly gaveUp?: string | undefined;
}

export async function runResuming(options: ResumeOptions): Promise<Resumed> {
  const { run, settle, clock, interrupted, print } = options;
  const limits = new Limits(clock);
  let [times, isConfirmed] = [0, false];
  for (;;) {
    const { code, log } = await run({ isConfirmed });
    if (code === 0) return { code, times, hasFailed: false };
    await settle();
    const events = readRunEvents(log);
    const ended = { code, times, hasFailed: events.failed.length > 0 };
    const cause = transientCause(events);
    if (interrupted.aborted || cause === undefined) return ended;

    const next = limits.next(events.completed);
    const gaveUp = options.off ?? (typeof next === "string" ? `${cause}, ${next}` : await options.obstacle());
    if (gaveUp !== undefined || typeof next === "string") return { ...ended, gaveUp };
    // A failed preview was not shown completely: nobody has agreed to anything yet.
    isConfirmed ||= !events.isPreview;
    const plan = options.isAsked && isConfirmed ? "; the plan is the one that you confirmed" : "";
    print(`resuming in ${next.delayMs / 1000} s: ${cause} (attempt ${next.attempt} of ${mostAttempts}${plan})`);
    await pause(clock, next.delayMs, interrupted);
    if (interrupted.aborted) return ended;
    await options.prepare(log);
    if (interrupted.aborted) return ended;
    times += 1;
  }
}

/** The limits of attempts and time. A run that completes something new starts the count of attempts again. */
class Limits {
  private readonly clock: Clock;
  private readonly completed = new Set<string>();
  private attempt = 1;
  private backOff = new BackOff(delays);
  private giveUpAt: number | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The next attempt after a run that completed these, or which limit is reached. */
  next(urns: readonly string[]): { readonly attempt: number; readonly delayMs: number } | string {
    const before = this.completed.size;
    for (const urn of urns) this.completed.add(urn);
    if (this.completed.size > before) [this.attempt, this.backOff] = [1, new BackOff(delays)];
    const now = this.clock.now();
    this.giveUpAt ??= now + mostMs;
    if (this.attempt >= mostAttempts) return `${mostAttempts} times in a row`;
    const delayMs = this.backOff.nextMs();
    if (now + delayMs > this.giveUpAt) return `for more than ${mostMs / 60_000} min`;
    this.attempt += 1;
    return { attempt: this.attempt, delayMs };
  }
}

/** What failed, and how; undefined if anything but a transient failure ended the run. */
export function transientCause({ failed }: RunEvents): string | undefined {
  const causes = failed.map((one) => ({ one, judgement: judge(one) }));
  if (causes.some(({ judgement }) => judgement.kind === "final")) return undefined;
  const seen = causes.flatMap(({ one, judgement }) =>
    judgement.kind === "transient" ? [`${called(one)} ${judgement.seen}`] : [],
  );
  const [first, ...others] = new Set(seen);
  return first === undefined || others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

/** `hcloud server test-cp-2` */
function called({ type, name }: FailedResource): string {
  const provider = /^(\w+):/.exec(type)?.[1];
  return [...(type.startsWith("pulumi") || provider === undefined ? [] : [provider]), kindOf(type), name].join(" ");
}
