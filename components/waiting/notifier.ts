/** Signals that something changed. The waiting code then reads the current state, so it never sees an old one, nor the same change twice. */
export class Notifier {
  private readonly signal: AbortSignal;
  private fresh = false;
  private wake: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
    signal.addEventListener("abort", () => this.wake());
  }

  notify(): void {
    this.fresh = true;
    this.wake();
  }

  /** Waits until something has changed; false if the signal is aborted. */
  async next(): Promise<boolean> {
    while (!this.fresh && !this.signal.aborted) {
      await new Promise<void>((wake) => {
        this.wake = wake;
      });
    }
    this.fresh = false;
    return !this.signal.aborted;
  }
}
