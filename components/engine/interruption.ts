// Detects Ctrl-C in the process of the dynamic providers: the engine calls Cancel there, and the SDK answers without passing the call on.
import { subscribe } from "node:diagnostics_channel";
import { SluiceError } from "../errors/sluiceError.ts";

/** What to do after any interruption. */
export const resume = "Run the same command again: completed work is kept, and the run resumes.";

const interrupted = new AbortController();

subscribe("http2.server.stream.start", (message) => {
  const { headers } = message as { readonly headers: Readonly<Record<string, unknown>> };
  if (headers[":path"] === "/pulumirpc.ResourceProvider/Cancel") interrupted.abort();
});

/** Aborted when the user interrupts the engine: every wait ends then. */
export const interruption: AbortSignal = interrupted.signal;

/**
 * Rejects on an interruption, with what the work was doing; after one no work is started. Started work cannot be cancelled: it runs until the process
 * ends, and the next run finds out how far it got.
 */
export function unlessInterrupted<T>(work: () => Promise<T>, doing: () => string, signal = interruption): Promise<T> {
  return new Promise((done, fail) => {
    const stop = () => fail(new SluiceError({ subject: `Interrupted: ${doing()}`, remedy: resume }));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
    const finish = () => signal.removeEventListener("abort", stop);
    work().then(done, fail).finally(finish);
  });
}
