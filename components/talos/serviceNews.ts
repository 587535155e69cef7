import { pause } from "../gates/clock.ts";
import { resources } from "./client/resources.ts";
import { type FollowWorld, follow } from "./followNode.ts";
import type { NodeClient } from "./nodeAccess.ts";

/** Tells when a service of one of these nodes comes or goes. Listens from the first time on that somebody waits. */
export class ServiceNews {
  private readonly opens: readonly (() => NodeClient)[];
  /** By the clock. */
  private readonly until: number;
  private readonly world: FollowWorld;
  private readonly ended = new AbortController();
  private news = new AbortController();
  private isListening = false;

  constructor(opens: readonly (() => NodeClient)[], until: number, world: FollowWorld) {
    this.opens = opens;
    this.until = until;
    this.world = world;
  }

  /** Resolves after so many milliseconds, or when there is news since the last time. */
  async within(milliseconds: number): Promise<void> {
    if (!this.isListening) for (const open of this.opens) void this.listen(open);
    this.isListening = true;
    await pause(this.world.clock, milliseconds, AbortSignal.any([this.news.signal, this.ended.signal]));
    if (this.news.signal.aborted) this.news = new AbortController();
  }

  /** Nobody waits any more. */
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
    // It ends with the wait, and what it cannot hear is asked for.
    await follow(this.world, { open, of: resources.services, judge, until, signal: ended.signal }).catch(
      () => undefined,
    );
  }
}
