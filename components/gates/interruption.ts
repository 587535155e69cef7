// Ctrl-C as it reaches the process of the dynamic providers: the engine calls Cancel there, and the SDK answers without telling anybody.
import { subscribe } from "node:diagnostics_channel";

const interrupted = new AbortController();

subscribe("http2.server.stream.start", (message) => {
  const { headers } = message as { readonly headers: Readonly<Record<string, unknown>> };
  if (headers[":path"] === "/pulumirpc.ResourceProvider/Cancel") interrupted.abort();
});

/** Comes when who runs the engine has asked it to stop: what waits, ends. */
export const interruption: AbortSignal = interrupted.signal;
