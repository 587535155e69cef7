import type { Clock } from "./clock.ts";
import { keyOf, type Unmet } from "./history.ts";

/**
 * A stall that is away for less than this continues: between two crashes a container, or a service, runs for a moment. Longer than that, it made progress.
 */
const breakMs = 10_000;

interface Stall {
  readonly what: string;
  readonly began: number;
  /** Since when it is not observed, although its condition is still unmet. */
  away: number | undefined;
}

/** Calls a function once a stall has persisted for the given time. docs/gates.md */
export class Stalls {
  private readonly clock: Clock;
  private readonly periodMs: number;
  private readonly call: () => void;
  /** By condition, and node or object. */
  private readonly known = new Map<string, Stall>();
  private cancel: (() => void) | undefined;

  constructor(clock: Clock, seconds: number, call: () => void) {
    this.clock = clock;
    this.periodMs = seconds * 1000;
    this.call = call;
  }

  /** Takes note of what an observation found unmet. */
  judge(unmet: readonly Unmet[]): void {
    if (this.periodMs === 0) return;
    const now = this.clock.now();
    const byKey = new Map(unmet.map((one) => [keyOf(one), one]));
    for (const key of this.known.keys()) if (!byKey.has(key)) this.known.delete(key);
    for (const [key, { verdict }] of byKey) {
      const before = this.known.get(key);
      const what = verdict.kind === "pending" ? verdict.stall : undefined;
      const isOver = before?.away !== undefined && now - before.away >= breakMs;
      if (what === undefined) {
        if (isOver) this.known.delete(key);
        else if (before !== undefined) before.away ??= now;
      } else if (before?.what === what && !isOver) {
        before.away = undefined;
      } else {
        this.known.set(key, { what, began: now, away: undefined });
      }
    }
    this.stop();
    const standing = [...this.known.values()].filter(({ away }) => away === undefined);
    if (standing.length === 0) return;
    const first = Math.min(...standing.map(({ began }) => began));
    this.cancel = this.clock.after(Math.max(0, first + this.periodMs - now), this.call);
  }

  /** Whether it has persisted for long enough. */
  has(unmet: Unmet): boolean {
    const stall = this.known.get(keyOf(unmet));
    return stall !== undefined && stall.away === undefined && this.clock.now() - stall.began >= this.periodMs;
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}
