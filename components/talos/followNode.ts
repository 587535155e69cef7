import { pause } from "../gates/clock.ts";
import type { ResourceType } from "./client/talosClient.ts";
import type { NodeClient, World } from "./nodeAccess.ts";
import { type Look, repeat } from "./repeat.ts";

export interface Follow<T> {
  readonly open: () => NodeClient;
  readonly of: ResourceType;
  /** What was waited for, or nothing yet. Gets all such resources by their id whenever one changes, and after each new connection. */
  readonly judge: (specs: ReadonlyMap<string, unknown>) => T | undefined;
  /** Told when the connection is gone; what it throws ends the wait. */
  readonly lost?: (error: unknown) => Promise<void>;
  /** By the clock. */
  readonly until: number;
  /** Comes when it is not to be waited for any more. */
  readonly signal?: AbortSignal;
}

export type FollowWorld = Pick<World, "clock" | "chance" | "interrupted">;

/** Time was up; `cause` is why the node did not answer last, if it did not. */
export class OutOfTime extends Error {}

/** Seconds after which a watch begins anew: a machine that lost its power says nothing more, and no goodbye either. */
const freshAfter = 5;
/** Seconds before the next connection, the first time and at most. */
const pace = [0.1, 2] as const;

/** Watches resources of a node, over lost connections and reboots, until they are as wanted. */
export async function follow<T>(world: FollowWorld, { open, of, judge, lost, until, signal }: Follow<T>): Promise<T> {
  const { clock, chance, interrupted } = world;
  const late = new AbortController();
  const takeBack = clock.after(Math.max(0, until - clock.now()), () => late.abort());
  const ended = AbortSignal.any([late.signal, signal, interrupted].filter((one) => one !== undefined));
  let cause: unknown;
  const watch = async (): Promise<Look<T>> => {
    const client = open();
    const specs = new Map<string, unknown>();
    let isComplete = false;
    try {
      for await (const event of client.watch(of, { signal: ended, deadline: freshAfter })) {
        if (event.kind === "complete") isComplete = true;
        else if (event.kind === "put") specs.set(event.resource.id, event.resource.spec);
        else specs.delete(event.resource.id);
        const found = isComplete ? judge(specs) : undefined;
        if (found !== undefined) return { found };
      }
    } catch (error) {
      if (!ended.aborted) {
        cause = error;
        await lost?.(error);
      }
    } finally {
      client.close();
    }
    const timeIsUp = new OutOfTime("time is up", { cause });
    if (ended.aborted) throw timeIsUp;
    return { late: timeIsUp, isFresh: isComplete };
  };
  try {
    const rest = (milliseconds: number) => pause(clock, milliseconds, ended);
    return await repeat(watch, { clock, chance, until: () => until, interrupted, pace, rest });
  } finally {
    takeBack();
  }
}
