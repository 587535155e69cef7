import { pause } from "../../waiting/clock.ts";
import { resources } from "../client/resources.ts";
import { type FollowContext, follow } from "./followNode.ts";
import type { NodeClient } from "./nodeAccess.ts";

/** Ends a pause when a service of one of these nodes changes. Starts to watch with the first pause. */
export class ServiceNews {
  private readonly opens: readonly (() => NodeClient)[];
  /** Deadline, by the clock. */
  private readonly until: number;
  private readonly context: FollowContext;
  private readonly ended = new AbortController();
  private news = new AbortController();
  private isListening = false;

  constructor(opens: readonly (() => NodeClient)[], until: number, context: FollowContext) {
    this.opens = opens;
    this.until = until;
    this.context = context;
  }

  /** Resolves after the given milliseconds, or earlier if something has changed since the last pause. */
  async within(milliseconds: number): Promise<void> {
    if (!this.isListening) for (const open of this.opens) void this.listen(open);
    this.isListening = true;
    await pause(this.context.clock, milliseconds, AbortSignal.any([this.news.signal, this.ended.signal]));
    if (this.news.signal.aborted) this.news = new AbortController();
  }

  /** Ends the watches. */
  end(): void {
    this.ended.abort();
  }

  private async listen(open: () => NodeClient): Promise<void> {
    let last: string | undefined;
    const judge = (specs: ReadonlyMap<string, unknown>) => {
      const now = JSON.stringify([...specs].sort());
      if (last !== undefined && now !== last) this.news.abort();
      last = now;
      return undefined;
    };
    const { until, ended } = this;
    // Errors are ignored: the watch ends with the wait, and what it misses is found by polling.
    await follow(this.context, { open, of: resources.services, judge, until, signal: ended.signal }).catch(
      () => undefined,
    );
  }
}
