import type { Clock } from "./clock.ts";

/** The result of the work; rejects with `late()` if it takes longer than the given milliseconds. This does not end the work itself. */
export function withDeadline<T>(clock: Clock, milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((done, fail) => {
    const cancel = clock.after(milliseconds, () => fail(late()));
    work.then(done, fail).finally(cancel);
  });
}

/** The same for work that may fail: undefined if it fails or takes too long. */
export function resultWithin<T>(clock: Clock, milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  return withDeadline(clock, milliseconds, work, () => new Error("late")).catch(() => undefined);
}
