/** The time as waits need it: the current time, and a call after a delay. Tests use their own clock. */
export interface Clock {
  /** Milliseconds that never decrease, from an arbitrary start. */
  now(): number;
  /** Calls once after the given milliseconds, never earlier by `now`; the function that it returns cancels the call. */
  after(milliseconds: number, call: () => void): () => void;
}

/** The longest delay that a timer of Node takes; a longer one would end at once. */
const mostMs = 2 ** 31 - 1;

/** The host's clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, call) {
    const due = performance.now() + milliseconds;
    // Node counts whole milliseconds, so its timers may end up to one too early: a caller that compares times would find that none has passed.
    const check = () => {
      if (performance.now() < due) timer = start();
      else call();
    };
    const start = () => setTimeout(check, Math.min(mostMs, Math.max(0, Math.ceil(due - performance.now()))));
    let timer = start();
    return () => clearTimeout(timer);
  },
};

/** How often `afterRunning` checks the time, in milliseconds. */
const sliceMs = 50;

/**
 * Calls once after the given milliseconds in which this process could run. While it is blocked, as when it loads modules, it does not notice an answer either: a
 * timeout that counts this time would take a node that has answered for one that is silent.
 */
export function afterRunning(clock: Clock, milliseconds: number, call: () => void): () => void {
  let left = milliseconds;
  let before = clock.now();
  const check = () => {
    const now = clock.now();
    left -= Math.min(now - before, 2 * sliceMs);
    before = now;
    if (left > 0) cancel = next();
    else call();
  };
  const next = () => clock.after(Math.min(sliceMs, left), check);
  let cancel = next();
  return () => cancel();
}

/** Resolves after the given milliseconds, or as soon as the signal is aborted. */
export function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) return done();
    const finish = () => {
      cancel();
      signal?.removeEventListener("abort", finish);
      done();
    };
    const cancel = clock.after(milliseconds, finish);
    signal?.addEventListener("abort", finish);
  });
}
