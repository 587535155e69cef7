// The observations of the gate VirtualAddress: who answers at the address, and which control plane holds it.

import { readKubeconfig } from "../../kubernetes/kubeconfig.ts";
import type { NetworkSettings } from "../../model/settings/network.ts";
import { resources } from "../../talos/client/resources.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import type { Clock } from "../../waiting/clock.ts";
import { mergeObservations, type Observer } from "../../waiting/mergeObservations.ts";
import { BackOff, every, rounds } from "../../waiting/rounds.ts";
import type { GateNode, NodeView, Reading } from "./nodeView.ts";
import { watchNodes } from "./watchNodes.ts";
import { type Answer, whoAnswers } from "./whoAnswers.ts";

export interface VirtualAddressInputs {
  readonly address: string;
  readonly port: number;
  /** What brings it up on one of the control planes. */
  readonly by: NetworkSettings["vipBy"];
  /** The control planes. */
  readonly nodes: readonly GateNode[];
  /** The kubeconfig, whose CA must have issued the answer's certificate. */
  readonly credentials: { readonly talos: TalosCredentials; readonly kubeconfig: string };
}

export interface VirtualAddressObservation {
  readonly address: string;
  /** Each control plane, with its addresses. */
  readonly views: readonly NodeView<readonly string[]>[];
  readonly answer?: Answer;
}

/** Milliseconds between an answer and the next probe. */
const askIntervalMs = 200;
const answerTimeoutMs = 2_000;

const reading: Reading<readonly string[]> = {
  follow: [resources.addresses],
  intervalMs: 5_000,
  read: async (client, options) => {
    const found = await client.list(resources.addresses, options);
    return found.map(({ spec }) => (spec as { readonly address: string }).address.replace(/\/.*$/, ""));
  },
};

/** Probes at a fixed interval, because a machine that takes an address over announces that only to its neighbours. */
export function watchVirtualAddress(
  { nodes, credentials, address: host, port }: VirtualAddressInputs,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<VirtualAddressObservation> {
  const follow: Observer<VirtualAddressObservation> = async (see) => {
    for await (const views of watchNodes({ nodes, credentials: credentials.talos }, reading, signal, clock))
      see({ views });
  };
  const ask: Observer<VirtualAddressObservation> = async (see) => {
    const { ca } = readKubeconfig(credentials.kubeconfig);
    for await (const _ of rounds({ clock, backOff: new BackOff(every(askIntervalMs)), signal })) {
      see({ answer: await whoAnswers({ host, port, ca }, answerTimeoutMs, clock, signal) });
    }
  };
  return mergeObservations({ address: host, views: nodes.map((node) => ({ node, tries: 0 })) }, [follow, ask], signal);
}
