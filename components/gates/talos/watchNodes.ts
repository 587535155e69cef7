// The observations of the gates on Talos: all nodes at the same time, each through its own API.

import { isDeepStrictEqual } from "node:util";
import { firstLine } from "../../errors/firstLine.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { codeOf } from "../../talos/client/connection.ts";
import { clientFor, probe } from "../../talos/client/nodeState.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import type { Clock } from "../../waiting/clock.ts";
import { Notifier } from "../../waiting/notifier.ts";
import { BackOff, type Delays, rounds } from "../../waiting/rounds.ts";
import type { GateNode, NodeView, Reading, TalosGateInputs } from "./nodeView.ts";
import { readNode } from "./readNode.ts";

/** Delays before a node that did not answer is probed again. */
const delays: Delays = { firstMs: 50, factor: 2, mostMs: 250 };
/** Milliseconds after which a node that is not ours yet is probed again: it may have become ours on the open connection. */
const unsettledMs = 500;

/** Observes all nodes, in their order: yields at once and whenever one of them changes, until the signal. */
export async function* watchNodes<Facts, Node extends GateNode>(
  { nodes, credentials }: TalosGateInputs<Node>,
  reading: Reading<Facts>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<readonly NodeView<Facts, Node>[]> {
  const views = nodes.map((node): NodeView<Facts, Node> => ({ node, tries: 0 }));
  const notifier = new Notifier(signal);
  let failure: { readonly error: unknown } | undefined;
  for (const [index, node] of nodes.entries()) {
    const report = (view: Omit<NodeView<Facts, Node>, "node">) => {
      const before = views[index];
      views[index] = { node, ...view };
      if (!isDeepStrictEqual(before, views[index])) notifier.notify();
    };
    watchNode(node.talosAddress, credentials, reading, report, signal, clock).catch((error) => {
      // A retry would fail in the same way.
      const details = { code: "SLU-T113", where: node.name, seen: firstLine(error), cause: error } as const;
      failure = { error: new SluiceError(details) };
      notifier.notify();
    });
  }
  notifier.notify();
  while (await notifier.next()) {
    if (failure !== undefined) throw failure.error;
    yield [...views];
  }
}

/** Probes a node until it answers, then reads it whenever something changes; starts over when the connection breaks. */
async function watchNode<Facts>(
  talosAddress: string,
  credentials: TalosCredentials,
  reading: Reading<Facts>,
  report: (view: Omit<NodeView<Facts>, "node">) => void,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  let tries = 0;
  const backOff = new BackOff(delays);
  for await (const _ of rounds({ clock, backOff, signal })) {
    try {
      const state = await probe(talosAddress, credentials, { signal });
      const client = clientFor(state, talosAddress, credentials);
      tries = client === undefined ? tries + 1 : 0;
      if (client === undefined) report({ tries, state });
      else {
        backOff.reset();
        const lastsMs = state.kind === "ours" ? undefined : unsettledMs;
        await readNode(client, reading, (read) => report({ tries: 0, state, ...read }), { lastsMs, signal, clock });
      }
    } catch (error) {
      // A broken connection gives no reason; the next probe does. Any other error is not transient.
      if (!signal.aborted && codeOf(error) === undefined) throw error;
    }
  }
}
