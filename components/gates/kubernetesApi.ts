import { KubernetesClient } from "../kubernetes/client.ts";
import type { KubernetesCredentials } from "../kubernetes/observe.ts";
import { type ApiFault, publishesSchema, readyFault } from "./apiAnswers.ts";
import { type Clock, pause } from "./clock.ts";
import type { Condition, GateDefinition } from "./gateDefinition.ts";
import { News } from "./news.ts";

export interface KubernetesApiInputs {
  /** The kubeconfig that is handed out: its address and its authority are what is tried. */
  readonly credentials: KubernetesCredentials;
  /** How many answers in a row have to be good. */
  readonly answers: number;
}

interface Observation {
  readonly server: string;
  /** Good answers since the last that was not. */
  readonly inARow: number;
  /** What was wrong with the last answer. */
  readonly fault?: ApiFault;
  /** Whether it has told all that it serves. */
  readonly hasSchema: boolean;
}

/** The API server cannot tell when it is ready but by being asked. Milliseconds from one question to the next, whether it was answered or not. */
export const askEvery = 200;

/** The API answers at the address that is handed out, as ours, and goes on doing so. */
export const kubernetesApi: GateDefinition<KubernetesApiInputs, Observation> = {
  name: "KubernetesApi",
  timeoutCode: "SLU-K101",
  conditions: ({ answers }) => [isOurs, isReady(answers), hasSchema],
  observe: ({ credentials: { kubeconfig } }, signal, clock) => ask(kubeconfig, signal, clock),
  evidence: ({ server }) => ({ server }),
};

const isOurs: Condition<Observation> = {
  phrase: "the Kubernetes API to have a certificate of this cluster",
  evaluate({ fault, server }) {
    if (fault === undefined || fault.kind === "other") return [];
    const remedy =
      fault.kind === "name"
        ? "Add the address to certSANs, or set endpoint to one that the certificate has."
        : "Find out who answers at this address: another cluster, or a proxy. The endpoint must lead to this cluster's control planes.";
    return [{ kind: "failed", where: server, reason: fault.reason, code: "SLU-K102", remedy }];
  },
};

function isReady(answers: number): Condition<Observation> {
  return {
    phrase: `the Kubernetes API to be ready ${answers} times in a row`,
    evaluate({ server, inARow, fault }) {
      if (inARow >= answers) return [];
      if (fault !== undefined) return [{ kind: "pending", where: server, reason: fault.reason }];
      return [{ kind: "pending", where: server, reason: `${inARow} good answers so far`, unseen: true }];
    },
  };
}

/** An API server that has just begun puts it together when it is asked for the first time, which takes longer than those after this gate wait. */
const hasSchema: Condition<Observation> = {
  phrase: "the Kubernetes API to tell what it serves",
  evaluate: (seen) =>
    seen.hasSchema ? [] : [{ kind: "pending", where: seen.server, reason: "it has not put its schema together yet" }],
};

/** Asks at a steady pace and does not wait for an answer before it asks again: one lost packet must not hold up the next question. */
async function* ask(kubeconfig: string, signal: AbortSignal, clock: Clock): AsyncGenerator<Observation> {
  const client = new KubernetesClient(kubeconfig, clock);
  const news = new News(signal);
  let state: Observation = { server: client.server, inARow: 0, hasSchema: false };
  let newest = 0;
  const question = async (number: number) => {
    const fault = await readyFault(client, signal);
    // An answer that was overtaken tells nothing of now.
    if (number < newest) return;
    newest = number;
    const { server, inARow, hasSchema } = state;
    state = { server, hasSchema, ...(fault === undefined ? { inARow: inARow + 1 } : { inARow: 0, fault }) };
    news.tell();
  };
  const pace = async () => {
    for (let number = 1; !signal.aborted; number += 1) {
      void question(number);
      await pause(clock, askEvery, signal);
    }
  };
  const schema = async () => {
    while (!signal.aborted && !state.hasSchema) {
      if (await publishesSchema(client, signal)) state = { ...state, hasSchema: true };
      else await pause(clock, askEvery, signal);
    }
    news.tell();
  };
  void pace();
  void schema();
  while (await news.next()) yield state;
}
