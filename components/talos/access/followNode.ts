import { pause } from "../../waiting/clock.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import type { Delays } from "../../waiting/rounds.ts";
import type { ResourceType } from "../client/talosClient.ts";
import type { NodeClient, NodeContext } from "./nodeAccess.ts";

export interface Follow<T> {
  readonly open: () => NodeClient;
  readonly of: ResourceType;
  /** Returns the awaited result, or undefined. Gets all such resources by id whenever one changes, and after each new connection. */
  readonly judge: (specs: ReadonlyMap<string, unknown>) => T | undefined;
  /** Called when the connection is lost; an error that it throws ends the wait. */
  readonly lost?: (error: unknown) => Promise<void>;
  /** Deadline, by the clock. */
  readonly until: number;
  /** Aborted when the wait is no longer needed. */
  readonly signal?: AbortSignal;
}

export type FollowContext = Pick<NodeContext, "clock" | "random" | "interrupted">;

/** The deadline has passed; `cause` is the last connection error, if there was one. */
export class OutOfTime extends Error {}

/** Seconds after which a watch is restarted: a machine that lost its power does not close its connections. */
const watchSeconds = 5;
/** Delays before the next connection. */
const delays: Delays = { firstMs: 100, factor: 1.5, mostMs: 2_000 };

/** Watches resources of a node, across lost connections and reboots, until they are as wanted. */
export async function follow<T>(
  context: FollowContext,
  { open, of, judge, lost, until, signal }: Follow<T>,
): Promise<T> {
  const { clock, random, interrupted } = context;
  const late = new AbortController();
  const cancelDeadline = clock.after(Math.max(0, until - clock.now()), () => late.abort());
  const ended = AbortSignal.any([late.signal, signal, interrupted].filter((one) => one !== undefined));
  let cause: unknown;
  const watch = async (): Promise<Polled<T>> => {
    const client = open();
    const specs = new Map<string, unknown>();
    let isComplete = false;
    try {
      for await (const event of client.watch(of, { signal: ended, deadlineSeconds: watchSeconds })) {
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
    return await poll(watch, { clock, random, until: () => until, interrupted, delays, rest });
  } finally {
    cancelDeadline();
  }
}
