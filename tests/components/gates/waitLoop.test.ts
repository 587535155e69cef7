import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Condition, GateSettings, Verdict } from "../../../components/gates/gateDefinition.ts";
import { type WaitEnd, waitFor } from "../../../components/gates/waitLoop.ts";
import { Feed } from "./feed.ts";
import { SteppedClock, settled } from "./steppedClock.ts";

/** What each node is said to be: ready, what keeps it, or that it never will be. */
type Nodes = Readonly<Record<string, "ready" | "slow" | "broken" | "unseen">>;

const ready: Condition<Nodes> = {
  phrase: "every node to be ready",
  evaluate: (nodes) =>
    Object.entries(nodes)
      .filter(([, state]) => state !== "ready")
      .map(
        ([where, reason]): Verdict =>
          reason === "broken"
            ? { kind: "failed", where, reason, code: "SLU-K105" }
            : { kind: "pending", where, reason, ...(reason === "unseen" && { unseen: true }) },
      ),
};
const known: Condition<Nodes> = {
  phrase: "a node to be known",
  evaluate: (nodes) =>
    Object.keys(nodes).length > 0 ? [{ kind: "ok" }] : [{ kind: "pending", reason: "there is none" }],
};

class Waiting {
  readonly clock = new SteppedClock();
  readonly feed = new Feed<Nodes>();
  readonly told: string[] = [];
  readonly end: Promise<WaitEnd<Nodes>>;
  ended: WaitEnd<Nodes> | undefined;

  private readonly interruption = new AbortController();

  constructor(settings: GateSettings) {
    this.end = waitFor({
      conditions: [known, ready],
      settings,
      clock: this.clock,
      interrupted: this.interruption.signal,
      observe: (signal) => this.feed.observe(signal),
      onProgress: (text) => this.told.push(text),
    });
    void this.end.then((end) => {
      this.ended = end;
    });
  }

  async interrupt(): Promise<void> {
    this.interruption.abort();
    await settled();
  }

  async say(nodes: Nodes): Promise<void> {
    this.feed.say(nodes);
    await settled();
  }
}

describe("S3.2 a wait", () => {
  test("that has little patience takes what does not hold for so, but not what nobody could look at", async () => {
    const wait = new Waiting({ deadline: 60, stable: 0, patience: 2 });
    await wait.say({ a: "unseen", b: "slow" });
    await wait.clock.advance(10_000);
    expect(wait.ended).toBeUndefined();
    await wait.say({ a: "ready", b: "slow" });
    await wait.clock.advance(1_999);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1);
    expect(wait.ended).toMatchObject({ kind: "timeout", unmet: [{ verdict: { where: "b" } }], seconds: 12 });
  });

  test("ends at once when nobody wants to wait any more, and says what it waited for", async () => {
    const wait = new Waiting({ deadline: 60, stable: 5 });
    await wait.say({ a: "slow" });
    await wait.clock.advance(3_000);
    await wait.interrupt();
    expect(wait.ended).toEqual({
      kind: "interrupted",
      unmet: [{ phrase: ready.phrase, verdict: { kind: "pending", where: "a", reason: "slow" }, seconds: 3 }],
      seconds: 3,
    });
  });

  test("opens at once where no stable window is asked for", async () => {
    const wait = new Waiting({ deadline: 60, stable: 0 });
    await wait.say({ a: "ready" });
    expect(wait.ended).toEqual({ kind: "opened", observation: { a: "ready" }, seconds: 0, held: 0 });
  });

  test("opens when everything has held for the stable window, without another look", async () => {
    const wait = new Waiting({ deadline: 60, stable: 5 });
    await wait.clock.advance(3_000);
    await wait.say({ a: "ready" });
    await wait.clock.advance(4_999);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1);
    expect(wait.ended).toMatchObject({ kind: "opened", seconds: 8, held: 3 });
  });

  test("begins the window anew after each break", async () => {
    const wait = new Waiting({ deadline: 60, stable: 5 });
    await wait.say({ a: "ready" });
    await wait.clock.advance(4_000);
    await wait.say({ a: "slow" });
    await wait.say({ a: "ready" });
    await wait.clock.advance(4_000);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1_000);
    expect(wait.ended).toMatchObject({ kind: "opened", seconds: 9, held: 4 });
  });

  test("ends at once at what cannot pass, also of a condition further down, and names it first", async () => {
    const wait = new Waiting({ deadline: 600, stable: 5 });
    await wait.say({ a: "slow" });
    await wait.clock.advance(2_000);
    await wait.say({ a: "slow", b: "broken" });
    expect(wait.ended).toEqual({
      kind: "failed",
      seconds: 2,
      unmet: [
        {
          phrase: ready.phrase,
          verdict: { kind: "failed", where: "b", reason: "broken", code: "SLU-K105" },
          seconds: 0,
        },
        { phrase: ready.phrase, verdict: { kind: "pending", where: "a", reason: "slow" }, seconds: 2 },
      ],
    });
  });

  test("S1.7 gives up at the deadline with the last reasons, each for as long as it stood", async () => {
    const wait = new Waiting({ deadline: 60, stable: 5 });
    await wait.say({ a: "slow", b: "ready" });
    await wait.clock.advance(20_000);
    await wait.say({ a: "slow", b: "slow" });
    await wait.clock.advance(40_000);
    expect(wait.ended).toMatchObject({
      kind: "timeout",
      seconds: 60,
      unmet: [
        { verdict: { where: "a", reason: "slow" }, seconds: 60 },
        { verdict: { where: "b", reason: "slow" }, seconds: 40 },
      ],
    });
  });

  test("S1.7 gives up with a reason also where nothing was ever seen, or where it did not hold for long enough", async () => {
    const blind = new Waiting({ deadline: 60, stable: 5 });
    await blind.clock.advance(60_000);
    const unsteady = new Waiting({ deadline: 60, stable: 5 });
    await unsteady.clock.advance(58_000);
    await unsteady.say({ a: "ready" });
    await unsteady.clock.advance(2_000);
    expect([blind.ended, unsteady.ended].map((end) => end?.kind === "timeout" && end.unmet)).toMatchObject([
      [{ phrase: known.phrase, verdict: { reason: "nothing was seen" } }],
      [{ phrase: "it to hold", verdict: { reason: "it held, but not yet for 5 s without a break" } }],
    ]);
  });

  test("tells what it waits for: the first condition that does not hold, and whom it waits for", async () => {
    const wait = new Waiting({ deadline: 60, stable: 5 });
    await wait.say({});
    await wait.say({ a: "slow", b: "slow", c: "slow", d: "slow" });
    await wait.say({ a: "ready" });
    expect(wait.told).toEqual([
      "there is none; waits for a node to be known",
      "a: slow; b: slow; c: slow (and 1 more); waits for every node to be ready",
      "holds, and has to for 5 s",
    ]);
  });

  test.each(["opened", "failed", "timeout"])(
    "stops looking when it has ended, and leaves no timer: %s",
    async (kind) => {
      const wait = new Waiting({ deadline: 60, stable: 0 });
      await settled();
      expect(wait.feed.watched).toBe(true);
      if (kind !== "timeout") await wait.say({ a: kind === "opened" ? "ready" : "broken" });
      await wait.clock.advance(60_000);
      expect(wait.ended?.kind).toBe(kind);
      expect(wait.feed.watched).toBe(false);
      expect(wait.clock.pending).toBe(0);
    },
  );

  test("waits for what looks to clear away, but not for ever", async () => {
    const clock = new SteppedClock();
    async function* stuck(): AsyncGenerator<Nodes> {
      yield { a: "slow" };
      await new Promise(() => undefined);
    }
    let ended = false;
    const wait = waitFor({ conditions: [ready], settings: { deadline: 60, stable: 0 }, clock, observe: stuck });
    void wait.then(() => {
      ended = true;
    });
    await clock.advance(64_999);
    expect(ended).toBe(false);
    await clock.advance(1);
    await expect(wait).resolves.toMatchObject({ kind: "timeout", seconds: 60 });
  });

  test.each([
    [
      "cannot look",
      () => {
        throw new Error("no such kubeconfig");
      },
      "no such kubeconfig",
    ],
    ["ends its look by itself", () => undefined, "it is no longer looked at, though nobody said to stop"],
  ])("rejects when what looks %s", async (_, act, message) => {
    const clock = new SteppedClock();
    async function* look(): AsyncGenerator<Nodes> {
      yield { a: "slow" };
      act();
    }
    const wait = waitFor({ conditions: [ready], settings: { deadline: 60, stable: 0 }, clock, observe: look });
    await expect(wait).rejects.toThrow(message);
    expect(clock.pending).toBe(0);
  });
});

describe("S3.2 any wait", () => {
  const anyState = fc.constantFrom("ready" as const, "ready" as const, "slow" as const, "broken" as const);
  const anyStep = fc.record({ after: fc.integer({ min: 1, max: 20 }), state: anyState });
  const anyWait = fc.record({
    steps: fc.array(anyStep, { maxLength: 8 }),
    deadline: fc.integer({ min: 1, max: 60 }),
    stable: fc.integer({ min: 0, max: 10 }),
  });

  test("ends as the facts and the settings say, at that very second", async () => {
    await fc.assert(
      fc.asyncProperty(anyWait, async ({ steps, deadline, stable }) => {
        const wait = new Waiting({ deadline, stable });
        for (const { after, state } of steps) {
          await wait.clock.advance(after * 1000);
          await wait.say({ a: state });
        }
        await wait.clock.advance(120_000);
        const { kind, seconds } = await wait.end;
        expect({ kind, seconds }).toEqual(expected(steps, deadline, stable));
      }),
      { numRuns: 150 },
    );
  });

  /** The same by going through it second by second. */
  function expected(steps: readonly { after: number; state: string }[], deadline: number, stable: number) {
    const changes = new Map<number, string>();
    let moment = 0;
    for (const { after, state } of steps) {
      moment += after;
      changes.set(moment, state);
    }
    let since: number | undefined;
    for (let second = 0; second <= deadline; second += 1) {
      // What is due in the same second was due before anything new was said, the deadline first.
      if (second === deadline) break;
      if (since !== undefined && second - since >= stable) return { kind: "opened", seconds: second };
      const state = changes.get(second);
      if (state === "broken") return { kind: "failed", seconds: second };
      if (state === "slow") since = undefined;
      if (state === "ready") since ??= second;
      if (since !== undefined && stable === 0) return { kind: "opened", seconds: second };
    }
    return { kind: "timeout", seconds: deadline };
  }
});
