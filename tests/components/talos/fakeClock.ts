import type { Clock } from "../../../components/gates/clock.ts";

/** Turns of the event loop in which nothing may happen before the clock goes on. */
const idle = 3;

/** A clock that goes on by itself: whenever nothing else is to be done, its next timer is due. */
export class FakeClock implements Clock {
  /** Seconds of every timer that came due. */
  readonly waits: number[] = [];
  private time = 0;
  private isGoing = false;
  private readonly timers = new Set<{ readonly at: number; readonly length: number; readonly call: () => void }>();

  now(): number {
    return this.time;
  }

  after(milliseconds: number, call: () => void): () => void {
    const timer = { at: this.time + milliseconds, length: milliseconds, call };
    this.timers.add(timer);
    this.go(idle);
    return () => this.timers.delete(timer);
  }

  private go(turns: number): void {
    if (this.isGoing && turns === idle) return;
    this.isGoing = true;
    setImmediate(() => (turns > 1 ? this.go(turns - 1) : this.fire()));
  }

  private fire(): void {
    this.isGoing = false;
    const [next] = [...this.timers].sort((a, b) => a.at - b.at);
    if (next === undefined) return;
    this.timers.delete(next);
    this.time = next.at;
    this.waits.push(next.length / 1000);
    next.call();
    if (this.timers.size > 0) this.go(idle);
  }
}
