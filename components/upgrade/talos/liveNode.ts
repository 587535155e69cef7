// A stream from a machine that lost its power does not end: the machine no longer closes its connections.
import type { NodeClient, NodeContext } from "../../talos/access/nodeAccess.ts";
import { using } from "../../talos/access/nodeAccess.ts";
import { pause } from "../../waiting/clock.ts";

/** Seconds between two checks, and for each of them. */
const checkSeconds = 5;
/** How many checks in a row may get no answer. */
const mostUnanswered = 3;

export interface LiveNode {
  /** Aborted once the node is in another boot, or does not answer any more. */
  readonly signal: AbortSignal;
  end(): void;
}

export function brokenWhenGone(open: () => NodeClient, bootId: string, { clock, interrupted }: NodeContext): LiveNode {
  const gone = new AbortController();
  const ended = new AbortController();
  const check = async () => {
    let unanswered = 0;
    while (!ended.signal.aborted && unanswered < mostUnanswered) {
      await pause(clock, checkSeconds * 1000, ended.signal);
      if (ended.signal.aborted) return;
      const now = await using(open(), (client) => client.bootId({ deadlineSeconds: checkSeconds })).catch(
        () => undefined,
      );
      if (now !== undefined && now !== bootId) break;
      unanswered = now === undefined ? unanswered + 1 : 0;
    }
    gone.abort(new DOMException("the node is in another boot or does not answer", "AbortError"));
  };
  void check();
  return {
    signal: AbortSignal.any([gone.signal, ...(interrupted === undefined ? [] : [interrupted])]),
    end: () => ended.abort(),
  };
}
