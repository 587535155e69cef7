import type { Clock } from "../../../components/waiting/clock.ts";

/** Time that advances only when a test does it. */
export class SteppedClock implements Clock {
  private time = 0;
  private timers: { readonly at: number; readonly call: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(milliseconds: number, call: () => void): () => void {
    const timer = { at: this.time + milliseconds, call };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }

  /** How many timers are pending. */
  get pending(): number {
    return this.timers.length;
  }

  /** Advances the time, with everything that follows from it. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    await settled();
    for (;;) {
      const [next] = this.timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.time = next.at;
      next.call();
      await settled();
    }
    this.time = end;
  }
}

/** Resolves when everything that needs no time has been done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
}
