// Creates test objects, observes them until they have proven what they are for, and deletes them again.
import { type Clock, pause } from "../../waiting/clock.ts";
import { BackOff, every, rounds } from "../../waiting/rounds.ts";

/** The objects of a trial. They always have the same names, so that the next run finds what an earlier run left behind. */
export interface TestObjects<Seen> {
  /** Whether any of them exists, of this run or of an earlier one; `leaving` if nothing but time is missing until they are gone. */
  presence(seen: Seen): "present" | "leaving" | "absent";
  /** Undefined if all are created, else why not. What was created so far remains. */
  make(seen: Seen, signal: AbortSignal): Promise<string | undefined>;
  /** Requests the deletion of all of them. Undefined if that succeeded, else why not. `seen` is missing at the end of a wait. */
  remove(seen?: Seen): Promise<string | undefined>;
  /** Whether they have proven what they are for. */
  isUsed(seen: Seen): boolean;
}

export interface Tried {
  readonly used: boolean;
  /** Why the last call failed. */
  readonly trouble?: string;
}

/** Milliseconds before a failed call is repeated. */
const retryDelayMs = 500;
/** How often the removal is attempted after the wait has ended. */
const lastTries = 3;

/** First deletes what an earlier run left behind; deletes what it created once that was used, or when the wait ends. */
export async function* tryObjects<Seen extends { readonly unreachable: string | undefined }>(
  objects: TestObjects<Seen>,
  observations: AsyncIterable<Seen>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<Seen & Tried> {
  let state = "before" as "before" | "made" | "used";
  let mayBeThere = false;
  /** Takes the next step; returns why that failed. */
  const step = async (seen: Seen): Promise<string | undefined> => {
    if (state === "made" || seen.unreachable !== undefined || signal.aborted) return undefined;
    const presence = objects.presence(seen);
    if (presence === "present") return objects.remove(seen);
    if (presence === "leaving") return undefined;
    mayBeThere = state === "before";
    if (state === "used") return undefined;
    const refused = await objects.make(seen, signal);
    if (refused === undefined) state = "made";
    return refused;
  };
  try {
    for await (const seen of observations) {
      if (state === "made" && objects.isUsed(seen)) state = "used";
      for await (const _ of rounds({ clock, backOff: new BackOff(every(retryDelayMs)), signal })) {
        const trouble = await step(seen);
        if (trouble === undefined) break;
        yield { ...seen, used: state === "used", trouble };
      }
      yield { ...seen, used: state === "used" };
    }
  } finally {
    for (let tries = 0; mayBeThere && tries < lastTries; tries += 1) {
      mayBeThere = (await objects.remove()) !== undefined;
      if (mayBeThere) await pause(clock, retryDelayMs);
    }
  }
}
