/** That there is something new; what it is, is looked up when somebody asks, so nothing is seen late or twice. */
export class News {
  private readonly signal: AbortSignal;
  private fresh = false;
  private wake: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
    signal.addEventListener("abort", () => this.wake());
  }

  tell(): void {
    this.fresh = true;
    this.wake();
  }

  /** Whether there is something new; false when nobody waits any more. */
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
