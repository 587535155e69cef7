import { classify } from "../../talos/client/classify.ts";
import { isUnanswered } from "../../talos/client/nodeState.ts";
import type { ResourceType, TalosClient } from "../../talos/client/talosClient.ts";
import type { Clock } from "../../waiting/clock.ts";
import { Notifier } from "../../waiting/notifier.ts";
import type { NodeView, Reading } from "./nodeView.ts";

/** Seconds for one reading. */
const readDeadlineSeconds = 4;

interface Following {
  /** Milliseconds after which it ends by itself. */
  readonly lastsMs: number | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Reads a node that answers whenever something changes there, until the connection breaks. */
export async function readNode<Facts>(
  client: TalosClient,
  { follow: types, intervalMs, read }: Reading<Facts>,
  report: (read: Pick<NodeView<Facts>, "facts" | "problem">) => void,
  { lastsMs, signal, clock }: Following,
): Promise<void> {
  const broken = new AbortController();
  const ended = AbortSignal.any([signal, broken.signal]);
  const notifier = new Notifier(ended);
  const watch = async (type: ResourceType) => {
    try {
      for await (const _ of client.watch(type, { signal: ended })) notifier.notify();
    } catch {
      // The next reading or probe finds out why.
    }
    broken.abort();
  };
  let cancelEnd: (() => void) | undefined;
  let cancelNext: (() => void) | undefined;
  for (const type of types) void watch(type);
  notifier.notify();
  try {
    while (await notifier.next()) {
      cancelNext?.();
      const seen = await answerOf(() => read(client, { signal: ended, deadlineSeconds: readDeadlineSeconds }));
      if (ended.aborted) return;
      report(seen);
      // Counts from the first answer: that of a slow node would otherwise not come before the end.
      if (lastsMs !== undefined) cancelEnd ??= clock.after(lastsMs, () => broken.abort());
      cancelNext = clock.after(intervalMs, () => notifier.notify());
    }
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    cancelEnd?.();
    cancelNext?.();
    broken.abort();
    client.close();
  }
}

/** An error that does not come from the connection is an answer of the node. */
async function answerOf<Facts>(read: () => Promise<Facts>): Promise<Pick<NodeView<Facts>, "facts" | "problem">> {
  try {
    return { facts: await read() };
  } catch (error) {
    if (isUnanswered(error)) throw error;
    return { problem: classify(error).seen };
  }
}
