// What the gates on Talos look at: every node at a time, through its own API, each as it is now.

import { isDeepStrictEqual } from "node:util";
import { codeOf } from "../talos/client/connection.ts";
import { clientFor, probe } from "../talos/client/nodeState.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { type Clock, pause } from "./clock.ts";
import { UnreadableNode } from "./lookFailure.ts";
import { News } from "./news.ts";
import type { GateNode, NodeView, Reading, TalosGateInputs } from "./nodeView.ts";
import { readNode } from "./readNode.ts";

/** Milliseconds before a node that did not answer is probed again: first, and at most. */
const backOff = { first: 50, most: 250 };
/** Milliseconds after which a node that is not ours yet is probed again: it may have become so on the connection that there is. */
const unsettled = 500;

/** An observation of all nodes, in their order, at once and whenever one of them changes, until the signal. */
export async function* watchNodes<Facts, Node extends GateNode>(
  { nodes, credentials }: TalosGateInputs<Node>,
  reading: Reading<Facts>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<readonly NodeView<Facts, Node>[]> {
  const views = nodes.map((node): NodeView<Facts, Node> => ({ node, tries: 0 }));
  const news = new News(signal);
  let failure: { readonly error: unknown } | undefined;
  for (const [index, node] of nodes.entries()) {
    const report = (view: Omit<NodeView<Facts, Node>, "node">) => {
      const before = views[index];
      views[index] = { node, ...view };
      if (!isDeepStrictEqual(before, views[index])) news.tell();
    };
    watchNode(node.endpoint, credentials, reading, report, signal, clock).catch((error) => {
      failure = { error: new UnreadableNode(node.name, error) };
      news.tell();
    });
  }
  news.tell();
  while (await news.next()) {
    if (failure !== undefined) throw failure.error;
    yield [...views];
  }
}

/** Probes a node until it answers, then reads it whenever something changes; when that breaks off, from the start. */
async function watchNode<Facts>(
  endpoint: string,
  credentials: TalosCredentials,
  reading: Reading<Facts>,
  report: (view: Omit<NodeView<Facts>, "node">) => void,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  let tries = 0;
  let delay = backOff.first;
  while (!signal.aborted) {
    try {
      const state = await probe(endpoint, credentials, { signal });
      const client = clientFor(state, endpoint, credentials);
      tries = client === undefined ? tries + 1 : 0;
      if (client === undefined) report({ tries, state });
      else {
        delay = backOff.first;
        const lasts = state.kind === "ours" ? undefined : unsettled;
        await readNode(client, reading, (read) => report({ tries: 0, state, ...read }), { lasts, signal, clock });
      }
    } catch (error) {
      // A connection that broke tells nothing of why; the next probe does. Anything else does not pass.
      if (!signal.aborted && codeOf(error) === undefined) throw error;
    }
    await pause(clock, delay, signal);
    delay = Math.min(delay * 2, backOff.most);
  }
}
