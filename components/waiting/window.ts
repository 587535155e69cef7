import type { Clock } from "./clock.ts";

/** Calls a function once a period has passed without a break. */
export class Window {
  private readonly clock: Clock;
  private readonly seconds: number;
  private readonly call: () => void;
  private cancel: (() => void) | undefined;

  constructor(clock: Clock, seconds: number, call: () => void) {
    this.clock = clock;
    this.seconds = seconds;
    this.call = call;
  }

  get isRunning(): boolean {
    return this.cancel !== undefined;
  }

  /** Starts the period, unless it is already running. */
  begin(): void {
    this.cancel ??= this.clock.after(this.seconds * 1000, this.call);
  }

  /** Cancels the period; the next start begins from zero. */
  break(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}
