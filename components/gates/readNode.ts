import { classify } from "../errors/classify.ts";
import { isUnanswered } from "../talos/client/nodeState.ts";
import type { ResourceType, TalosClient } from "../talos/client/talosClient.ts";
import type { Clock } from "./clock.ts";
import { News } from "./news.ts";
import type { NodeView, Reading } from "./nodeView.ts";

/** Seconds that one reading may take. */
const patience = 4;

interface Following {
  /** Milliseconds after which it ends by itself. */
  readonly lasts: number | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Reads a node that answers, whenever something changes there, until the connection breaks. */
export async function readNode<Facts>(
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
