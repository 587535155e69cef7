// The observations of the gate KubernetesApi: repeated probes of the API server.
import { KubernetesClient } from "../../kubernetes/client.ts";
import type { Clock } from "../../waiting/clock.ts";
import { Notifier } from "../../waiting/notifier.ts";
import { BackOff, every, rounds } from "../../waiting/rounds.ts";
import { type ApiFault, readyFault, schemaSeconds } from "./apiProbe.ts";

/** The API server does not announce when it is ready, so it is polled. Milliseconds between two probes, whether or not the last one was answered. */
export const askIntervalMs = 200;
/** Milliseconds for which a connection is reused while answers are bad: behind a load balancer it always reaches the same server, and others may be ready. */
const sharedMs = 5_000;

/** Seconds in which the schema must be served. The plugin and Helm request it first, and have 30 s for it and everything else. */
export const schemaLimitSeconds = 10;

export interface ApiLook {
  readonly server: string;
  /** Good answers in a row. */
  readonly inARow: number;
  /** What was wrong with the last answer. */
  readonly fault?: ApiFault;
  /** Whether it has published its schema. */
  readonly hasSchema: boolean;
  /** The seconds that the schema took last time, if that is too slow for the stages after this gate. */
  readonly slowSchemaSeconds?: number;
}

/** Probes at a fixed interval without waiting for the last answer: one lost packet must not delay the next probe. */
export async function* watchApi(kubeconfig: string, signal: AbortSignal, clock: Clock): AsyncGenerator<ApiLook> {
  const client = new KubernetesClient(kubeconfig, clock);
  const notifier = new Notifier(signal);
  const steadily = () => rounds({ clock, backOff: new BackOff(every(askIntervalMs)), signal });
  let state: ApiLook = { server: client.server, inARow: 0, hasSchema: false };
  let newest = 0;
  const question = async (number: number) => {
    // Readiness counts only on a new connection, because every client after the gate makes one.
    const fault = await readyFault(client, signal, state.inARow === 0 && state.fault !== undefined);
    // An answer that arrives after a newer one is out of date.
    if (number < newest) return;
    newest = number;
    const { fault: _, ...before } = state;
    state = { ...before, ...(fault === undefined ? { inARow: before.inARow + 1 } : { inARow: 0, fault }) };
    notifier.notify();
  };
  const pace = async () => {
    let number = 0;
    for await (const _ of steadily()) {
      number += 1;
      void question(number);
    }
  };
  const schema = async () => {
    for await (const _ of steadily()) {
      const took = await schemaSeconds(client, signal, clock);
      if (took === undefined) continue;
      const isFast = took <= schemaLimitSeconds;
      state = { ...state, hasSchema: isFast, ...(!isFast && { slowSchemaSeconds: took }) };
      notifier.notify();
      if (isFast) return;
    }
  };
  const renewal = async () => {
    const backOff = new BackOff(every(sharedMs));
    for await (const _ of rounds({ clock, backOff, signal })) client.endShared();
  };
  void pace();
  void schema();
  void renewal();
  signal.addEventListener("abort", () => client.endShared(), { once: true });
  while (await notifier.next()) yield state;
}
