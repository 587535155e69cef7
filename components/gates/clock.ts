/** Time as waits need it: how far it has gone, and a call when more of it has. Tests bring their own. */
export interface Clock {
  /** Milliseconds that never go back, from any beginning. */
  now(): number;
  /** Calls once after so many milliseconds, unless the function that it returns takes it back. */
  after(milliseconds: number, call: () => void): () => void;
}

/** The machine's own. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Back-off: resolves after so many milliseconds, or at once when a signal says that nobody waits any more. */
export function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) return done();
    const finish = () => {
      takeBack();
      signal?.removeEventListener("abort", finish);
      done();
    };
    const takeBack = clock.after(milliseconds, finish);
    signal?.addEventListener("abort", finish);
  });
}

/** Resolves when the work has ended, or after so many milliseconds. */
export function atMost(clock: Clock, milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((done) => {
    const takeBack = clock.after(milliseconds, done);
    void work.then(() => {
      takeBack();
      done();
    });
  });
}
