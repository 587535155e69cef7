import type { Clock } from "../../../components/waiting/clock.ts";

/** Turns of the event loop without an event before the clock advances. */
const idle = 3;

/** A clock that advances itself: whenever nothing else is to be done, its next timer is due. */
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
