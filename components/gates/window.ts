import type { Clock } from "./clock.ts";

/** A stretch of time that has to go by without a break, and then something is done. */
export class Window {
  private readonly clock: Clock;
  private readonly seconds: number;
  private readonly call: () => void;
  private takeBack: (() => void) | undefined;

  constructor(clock: Clock, seconds: number, call: () => void) {
    this.clock = clock;
    this.seconds = seconds;
    this.call = call;
  }

  get isRunning(): boolean {
    return this.takeBack !== undefined;
  }

  /** Begins, unless it has begun already. */
  begin(): void {
    this.takeBack ??= this.clock.after(this.seconds * 1000, this.call);
  }

  /** Ends without a call; the next beginning is a new one. */
  break(): void {
    this.takeBack?.();
    this.takeBack = undefined;
  }
}
