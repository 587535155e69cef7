import type { Clock } from "../../../components/gates/clock.ts";

/** Time that goes on only when a test says so. */
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

  /** How many calls are still to come. */
  get pending(): number {
    return this.timers.length;
  }

  /** Lets so much time pass, with everything that follows from it. */
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

/** When all that can go on without time passing has gone on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
}
