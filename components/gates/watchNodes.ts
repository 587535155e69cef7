// What the gates on Talos look at: every node at a time, through its own API, each as it is now.

import { isDeepStrictEqual } from "node:util";
import { classify } from "../errors/classify.ts";
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import { codeOf } from "../talos/client/connection.ts";
import { clientFor, isUnanswered, type NodeState, probe } from "../talos/client/nodeState.ts";
import type { ResourceType, TalosClient, TalosCredentials } from "../talos/client/talosClient.ts";
import { type Clock, pause } from "./clock.ts";
import { UnreadableNode } from "./lookFailure.ts";
import { News } from "./news.ts";

/** A node as gates are told of it. */
export interface GateNode extends MachineIdentity {
  readonly name: string;
  readonly role: Role;
  /** Where it is reached from here. */
  readonly endpoint: string;
  /** Its address in the node network. */
  readonly address: string;
}

/** What every gate on Talos is told. */
export interface TalosGateInputs<Node extends GateNode = GateNode> {
  readonly nodes: readonly Node[];
  readonly credentials: TalosCredentials;
}

/** What is known of one node. */
export interface NodeView<Facts, Node extends GateNode = GateNode> {
  readonly node: Node;
  /** How often it was probed since it answered last. */
  readonly tries: number;
  /** Nothing before the first probe has ended. */
  readonly state?: NodeState;
  /** What was read of it, while it answers. */
  readonly facts?: Facts;
  /** Why it answers, but not with what was asked for. */
  readonly problem?: string;
}

export interface Reading<Facts> {
  /** Resources whose changes are a reason to read. */
  readonly follow: readonly ResourceType[];
  /** Milliseconds after which is read in any case: shows what has no watch, and a connection that is dead without a word. */
  readonly every: number;
  read(client: TalosClient, options: { readonly signal: AbortSignal; readonly deadline: number }): Promise<Facts>;
}

/** Seconds that one reading may take. */
const patience = 4;
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
        await follow(client, reading, (read) => report({ tries: 0, state, ...read }), { lasts, signal, clock });
      }
    } catch (error) {
      // A connection that broke tells nothing of why; the next probe does. Anything else does not pass.
      if (!signal.aborted && codeOf(error) === undefined) throw error;
    }
    await pause(clock, delay, signal);
    delay = Math.min(delay * 2, backOff.most);
  }
}

interface Following {
  /** Milliseconds after which it ends by itself. */
  readonly lasts: number | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Reads again and again until the connection breaks. */
async function follow<Facts>(
  client: TalosClient,
  { follow: types, every, read }: Reading<Facts>,
  report: (read: Pick<NodeView<Facts>, "facts" | "problem">) => void,
  { lasts, signal, clock }: Following,
): Promise<void> {
  const broken = new AbortController();
  const ended = AbortSignal.any([signal, broken.signal]);
  const news = new News(ended);
  const watch = async (type: ResourceType) => {
    try {
      for await (const _ of client.watch(type, { signal: ended })) news.tell();
    } catch {
      // What it was, the next reading or probe finds out.
    }
    broken.abort();
  };
  let takeBackEnd: (() => void) | undefined;
  let takeBack: (() => void) | undefined;
  for (const type of types) void watch(type);
  news.tell();
  try {
    while (await news.next()) {
      takeBack?.();
      const seen = await answerOf(() => read(client, { signal: ended, deadline: patience }));
      if (ended.aborted) return;
      report(seen);
      // From the first answer on: a slow node's would not come before the end.
      if (lasts !== undefined) takeBackEnd ??= clock.after(lasts, () => broken.abort());
      takeBack = clock.after(every, () => news.tell());
    }
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    takeBackEnd?.();
    takeBack?.();
    broken.abort();
    client.close();
  }
}

/** An answer that is none of the connection's is one of the node. */
async function answerOf<Facts>(read: () => Promise<Facts>): Promise<Pick<NodeView<Facts>, "facts" | "problem">> {
  try {
    return { facts: await read() };
  } catch (error) {
    if (isUnanswered(error)) throw error;
    return { problem: classify(error).seen };
  }
}
