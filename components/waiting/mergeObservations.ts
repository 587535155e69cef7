import { Notifier } from "./notifier.ts";

/** Observes one part, and reports whenever something changes. It ends with the signal that its creator passed to it. */
export type Observer<Observation> = (see: (part: Partial<Observation>) => void) => Promise<void>;

/** Merges several observers into one observation: each has its own pace, and none delays another. */
export async function* mergeObservations<Observation>(
  first: Observation,
  observers: readonly Observer<Observation>[],
  signal: AbortSignal,
): AsyncGenerator<Observation> {
  const notifier = new Notifier(signal);
  let seen = first;
  let failure: { readonly error: unknown } | undefined;
  const see = (part: Partial<Observation>) => {
    seen = { ...seen, ...part };
    notifier.notify();
  };
  for (const observe of observers) {
    observe(see).catch((error) => {
      failure = { error };
      notifier.notify();
    });
  }
  while (await notifier.next()) {
    if (failure !== undefined) throw failure.error;
    yield seen;
  }
}
