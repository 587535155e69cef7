import { pause } from "../gates/clock.ts";
import type { ResourceType } from "./client/talosClient.ts";
import type { NodeClient, World } from "./nodeAccess.ts";

export interface Follow<T> {
  readonly open: () => NodeClient;
  readonly of: ResourceType;
  /** What was waited for, or nothing yet. Gets all such resources by their id whenever one changes, and after each new connection. */
  readonly judge: (specs: ReadonlyMap<string, unknown>) => T | undefined;
  /** Told when the connection is gone; what it throws ends the wait. */
  readonly lost?: (error: unknown) => Promise<void>;
  /** By the clock. */
  readonly until: number;
}

/** Time was up; `cause` is why the node did not answer last, if it did not. */
export class OutOfTime extends Error {}

/** Seconds after which a watch begins anew: a machine that lost its power says nothing more, and no goodbye either. */
const freshAfter = 5;
/** Seconds before the next connection, the first time and at most. */
const [shortest, longest] = [0.1, 2];

/** Watches resources of a node, over lost connections and reboots, until they are as wanted. */
export async function follow<T>(
  { clock }: Pick<World, "clock">,
  { open, of, judge, lost, until }: Follow<T>,
): Promise<T> {
  const ended = new AbortController();
  const takeBack = clock.after(Math.max(0, until - clock.now()), () => ended.abort());
  let cause: unknown;
  try {
    for (let delay = shortest; ; delay = Math.min(longest, delay * 1.5)) {
      const client = open();
      try {
        const specs = new Map<string, unknown>();
        let isComplete = false;
        for await (const event of client.watch(of, { signal: ended.signal, deadline: freshAfter })) {
          if (event.kind === "complete") isComplete = true;
          else if (event.kind === "put") specs.set(event.resource.id, event.resource.spec);
          else specs.delete(event.resource.id);
          const found = isComplete ? judge(specs) : undefined;
          if (found !== undefined) return found;
          if (isComplete) delay = shortest;
        }
      } catch (error) {
        if (!ended.signal.aborted) {
          cause = error;
          await lost?.(error);
        }
      } finally {
        client.close();
      }
      if (ended.signal.aborted) throw new OutOfTime("time is up", { cause });
      await pause(clock, delay * 1000, ended.signal);
    }
  } finally {
    takeBack();
  }
}
