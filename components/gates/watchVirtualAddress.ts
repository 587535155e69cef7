// What the gate on the virtual address looks at: who answers there, and which control plane has it.
import { readKubeconfig } from "../kubernetes/kubeconfig.ts";
import { resources } from "../talos/client/resources.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { type Clock, pause } from "./clock.ts";
import type { GateNode, NodeView, Reading } from "./nodeView.ts";
import { together, type Work } from "./together.ts";
import { watchNodes } from "./watchNodes.ts";
import { type Answer, whoAnswers } from "./whoAnswers.ts";

export interface VirtualAddressInputs {
  readonly address: string;
  readonly port: number;
  /** Who brings it up on one of the control planes. */
  readonly by: "talos" | "kube-vip";
  /** The control planes. */
  readonly nodes: readonly GateNode[];
  /** The kubeconfig has the authority that the answer must be signed by. */
  readonly credentials: { readonly talos: TalosCredentials; readonly kubeconfig: string };
}

export interface VirtualAddressLook {
  readonly address: string;
  /** Each control plane, with the addresses that it has. */
  readonly views: readonly NodeView<readonly string[]>[];
  readonly answer?: Answer;
}

/** Milliseconds from an answer to the next question, and for which an answer is waited for. */
const askEvery = 200;
const patience = 2_000;

const reading: Reading<readonly string[]> = {
  follow: [resources.addresses],
  every: 5_000,
  read: async (client, options) => {
    const found = await client.list(resources.addresses, options);
    return found.map(({ spec }) => (spec as { readonly address: string }).address.replace(/\/.*$/, ""));
  },
};

/** Asks at a steady pace, as a machine that takes an address over tells nobody of it but its neighbours. */
export function watchVirtualAddress(
  { nodes, credentials, address: host, port }: VirtualAddressInputs,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<VirtualAddressLook> {
  const follow: Work<VirtualAddressLook> = async (see) => {
    for await (const views of watchNodes({ nodes, credentials: credentials.talos }, reading, signal, clock))
      see({ views });
  };
  const ask: Work<VirtualAddressLook> = async (see) => {
    const { ca } = readKubeconfig(credentials.kubeconfig);
    while (!signal.aborted) {
      see({ answer: await whoAnswers({ host, port, ca }, patience, clock, signal) });
      await pause(clock, askEvery, signal);
    }
  };
  return together({ address: host, views: nodes.map((node) => ({ node, tries: 0 })) }, [follow, ask], signal);
}
