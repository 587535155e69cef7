// Ctrl-C as it reaches the process of the dynamic providers: the engine calls Cancel there, and the SDK answers without telling anybody.
import { subscribe } from "node:diagnostics_channel";

const interrupted = new AbortController();

subscribe("http2.server.stream.start", (message) => {
  const { headers } = message as { readonly headers: Readonly<Record<string, unknown>> };
  if (headers[":path"] === "/pulumirpc.ResourceProvider/Cancel") interrupted.abort();
});

/** Comes when who runs the engine has asked it to stop: what waits, ends. */
export const interruption: AbortSignal = interrupted.signal;

/**
 * Ends the wait for a piece of work with what it was doing; where that is asked for already, the work is not begun. What is begun cannot be called back: it goes on until the process ends, and the next
 * run finds out how far it came.
 */
export function unlessInterrupted<T>(work: () => Promise<T>, doing: () => string, signal = interruption): Promise<T> {
  return new Promise((done, fail) => {
    const stop = () => fail(new Error(`interrupted: ${doing()}. What is done is kept, and the next \`up\` goes on.`));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
    const finish = () => signal.removeEventListener("abort", stop);
    work().then(done, fail).finally(finish);
  });
}
