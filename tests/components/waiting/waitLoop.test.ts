import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Condition, GateSettings, Verdict } from "../../../components/waiting/condition.ts";
import { type WaitEnd, waitFor } from "../../../components/waiting/waitLoop.ts";
import { Feed } from "../gates/feed.ts";
import { SteppedClock, settled } from "../gates/steppedClock.ts";

/** The state of each node: ready, what it waits for, or that it never will be. */
type Nodes = Readonly<Record<string, "ready" | "slow" | "broken" | "unseen" | "crashes" | "fails">>;

const ready: Condition<Nodes> = {
  phrase: "every node to be ready",
  evaluate: (nodes) =>
    Object.entries(nodes)
      .filter(([, state]) => state !== "ready")
      .map(
        ([where, reason]): Verdict =>
          reason === "broken"
            ? { kind: "failed", where, reason, code: "SLU-K105" }
            : {
                kind: "pending",
                where,
                reason,
                ...(reason === "unseen" && { unseen: true }),
                ...((reason === "crashes" || reason === "fails") && { stall: reason }),
              },
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
  /** The seconds at which all conditions were met for the first time. */
  readonly met: number[] = [];
  readonly end: Promise<WaitEnd<Nodes>>;
  ended: WaitEnd<Nodes> | undefined;

  private readonly interruption = new AbortController();

  constructor(settings: GateSettings, { reportsMet = false } = {}) {
    this.end = waitFor({
      conditions: [known, ready],
      settings,
      clock: this.clock,
      interrupted: this.interruption.signal,
      observe: (signal) => this.feed.observe(signal),
      onProgress: (text) => this.told.push(text),
      ...(reportsMet && { onMet: ({ seconds }) => this.met.push(seconds) }),
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
  test("with a short limit for unmet conditions ends when a condition is unmet, but not when it could not be observed", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 0, unmetSeconds: 2 });
    await wait.say({ a: "unseen", b: "slow" });
    await wait.clock.advance(10_000);
    expect(wait.ended).toBeUndefined();
    await wait.say({ a: "ready", b: "slow" });
    await wait.clock.advance(1_999);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1);
    expect(wait.ended).toMatchObject({ kind: "timeout", unmet: [{ verdict: { where: "b" } }], seconds: 12 });
  });

  test("reports when all conditions are met for the first time, and has its whole deadline once more for the window", async () => {
    const wait = new Waiting({ deadlineSeconds: 10, stableSeconds: 5 }, { reportsMet: true });
    await wait.say({ a: "slow" });
    await wait.clock.advance(9_000);
    await wait.say({ a: "ready" });
    expect(wait.met).toEqual([9]);
    await wait.clock.advance(3_000);
    await wait.say({ a: "slow" });
    await wait.clock.advance(1_000);
    await wait.say({ a: "ready" });
    expect(wait.met).toEqual([9]);
    await wait.clock.advance(4_999);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1);
    expect(wait.ended).toMatchObject({ kind: "opened", held: 13, seconds: 18 });
  });

  test("that flaps for its whole deadline after its conditions were met ends in a timeout", async () => {
    const wait = new Waiting({ deadlineSeconds: 11.5, stableSeconds: 5 }, { reportsMet: true });
    for (let seconds = 0; seconds < 12; seconds += 4) {
      await wait.say({ a: "ready" });
      await wait.clock.advance(3_000);
      await wait.say({ a: "slow" });
      await wait.clock.advance(1_000);
    }
    expect(wait.ended).toMatchObject({ kind: "timeout", unmet: [{ verdict: { where: "a" } }], seconds: 11.5 });
  });

  describe("that meets a failure which seldom goes away by waiting (S5.5)", () => {
    const settings = { deadlineSeconds: 600, stableSeconds: 5, stallSeconds: 60 };

    test("ends once that has persisted for the time set, and names it before what only waits", async () => {
      const wait = new Waiting(settings);
      await wait.say({ a: "slow", b: "slow" });
      await wait.clock.advance(20_000);
      await wait.say({ a: "slow", b: "crashes" });
      await wait.clock.advance(59_999);
      expect(wait.ended).toBeUndefined();
      await wait.clock.advance(1);
      expect(wait.ended).toMatchObject({
        kind: "stalled",
        unmet: [{ verdict: { where: "b" }, isStalled: true }, { verdict: { where: "a" } }],
        seconds: 80,
      });
    });

    test("continues to count over a short recovery, as between two crashes", async () => {
      const wait = new Waiting(settings);
      for (let seconds = 0; seconds < 60; seconds += 15) {
        await wait.say({ a: "crashes" });
        await wait.clock.advance(6_000);
        await wait.say({ a: "slow" });
        await wait.clock.advance(9_000);
      }
      expect(wait.ended).toBeUndefined();
      await wait.say({ a: "crashes" });
      await wait.clock.advance(0);
      expect(wait.ended).toMatchObject({ kind: "stalled", seconds: 60 });
    });

    test.each<[string, Nodes]>([
      ["makes progress for ten seconds", { a: "slow" }],
      ["fails in another way", { a: "fails" }],
      ["is ready for a moment", { a: "ready" }],
    ])("counts from the beginning for a node that %s", async (_, between) => {
      const wait = new Waiting(settings);
      await wait.say({ a: "crashes", b: "slow" });
      await wait.clock.advance(50_000);
      await wait.say({ ...between, b: "slow" });
      await wait.clock.advance(between.a === "slow" ? 10_000 : 0);
      await wait.say({ a: "crashes", b: "slow" });
      await wait.clock.advance(59_999);
      expect(wait.ended).toBeUndefined();
      await wait.clock.advance(1);
      expect(wait.ended).toMatchObject({ kind: "stalled", unmet: [{ verdict: { where: "a" } }, {}] });
    });

    test("waits until its deadline for what is slow, and for all where the time set is 0", async () => {
      const slow = new Waiting(settings);
      await slow.say({ a: "slow" });
      await slow.clock.advance(600_000);
      expect(slow.ended).toMatchObject({ kind: "timeout" });
      const patient = new Waiting({ ...settings, stallSeconds: 0 });
      await patient.say({ a: "crashes" });
      await patient.clock.advance(600_000);
      expect(patient.ended).toMatchObject({ kind: "timeout" });
    });
  });

  test("ends at once when it is interrupted, and reports what it waited for", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
    await wait.say({ a: "slow" });
    await wait.clock.advance(3_000);
    await wait.interrupt();
    expect(wait.ended).toEqual({
      kind: "interrupted",
      unmet: [{ phrase: ready.phrase, verdict: { kind: "pending", where: "a", reason: "slow" }, seconds: 3 }],
      hasObserved: true,
      seconds: 3,
    });
  });

  test("opens at once without a stability window", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 0 });
    await wait.say({ a: "ready" });
    expect(wait.ended).toEqual({ kind: "opened", observation: { a: "ready" }, seconds: 0, held: 0 });
  });

  test("opens when all conditions were met for the stability window, without another observation", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
    await wait.clock.advance(3_000);
    await wait.say({ a: "ready" });
    await wait.clock.advance(4_999);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1);
    expect(wait.ended).toMatchObject({ kind: "opened", seconds: 8, held: 3 });
  });

  test("restarts the window after each break", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
    await wait.say({ a: "ready" });
    await wait.clock.advance(4_000);
    await wait.say({ a: "slow" });
    await wait.say({ a: "ready" });
    await wait.clock.advance(4_000);
    expect(wait.ended).toBeUndefined();
    await wait.clock.advance(1_000);
    expect(wait.ended).toMatchObject({ kind: "opened", seconds: 9, held: 4 });
  });

  test("fails at once on a permanent failure, also of a later condition, and names it first", async () => {
    const wait = new Waiting({ deadlineSeconds: 600, stableSeconds: 5 });
    await wait.say({ a: "slow" });
    await wait.clock.advance(2_000);
    await wait.say({ a: "slow", b: "broken" });
    expect(wait.ended).toEqual({
      kind: "failed",
      hasObserved: true,
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

  test("S1.7 fails at the deadline with the last reasons, each with its duration", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
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

  test("S1.7 fails with a reason even if nothing was observed, or if the conditions were not met for long enough", async () => {
    const blind = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
    await blind.clock.advance(60_000);
    const unsteady = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
    await unsteady.clock.advance(58_000);
    await unsteady.say({ a: "ready" });
    await unsteady.clock.advance(2_000);
    expect(blind.ended).toEqual({ kind: "timeout", unmet: [], hasObserved: false, seconds: 60 });
    expect(unsteady.ended).toEqual({ kind: "timeout", unmet: [], hasObserved: true, seconds: 60 });
  });

  test("reports what it waits for: the first unmet condition, and its nodes", async () => {
    const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 5 });
    await wait.say({});
    await wait.say({ a: "slow", b: "slow", c: "slow", d: "slow" });
    await wait.say({ a: "ready" });
    expect(wait.told).toEqual([
      "there is none; waits for a node to be known",
      "a: slow; b: slow; c: slow (and 1 more); waits for every node to be ready",
      "all conditions are met, and must stay so for 5 s",
    ]);
  });

  test.each(["opened", "failed", "timeout"])(
    "stops observing when it has ended, and leaves no timer: %s",
    async (kind) => {
      const wait = new Waiting({ deadlineSeconds: 60, stableSeconds: 0 });
      await settled();
      expect(wait.feed.watched).toBe(true);
      if (kind !== "timeout") await wait.say({ a: kind === "opened" ? "ready" : "broken" });
      await wait.clock.advance(60_000);
      expect(wait.ended?.kind).toBe(kind);
      expect(wait.feed.watched).toBe(false);
      expect(wait.clock.pending).toBe(0);
    },
  );

  test("waits for the observer to clean up, but not indefinitely", async () => {
    const clock = new SteppedClock();
    async function* stuck(): AsyncGenerator<Nodes> {
      yield { a: "slow" };
      await new Promise(() => undefined);
    }
    let ended = false;
    const wait = waitFor({
      conditions: [ready],
      settings: { deadlineSeconds: 60, stableSeconds: 0 },
      clock,
      observe: stuck,
    });
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
      "fails",
      () => {
        throw new Error("no such kubeconfig");
      },
      "no such kubeconfig",
    ],
    ["ends before the wait", () => undefined, "the observer ended before the wait"],
  ])("rejects when the observer %s", async (_, act, message) => {
    const clock = new SteppedClock();
    async function* look(): AsyncGenerator<Nodes> {
      yield { a: "slow" };
      act();
    }
    const wait = waitFor({
      conditions: [ready],
      settings: { deadlineSeconds: 60, stableSeconds: 0 },
      clock,
      observe: look,
    });
    await expect(wait).rejects.toThrow(message);
    expect(clock.pending).toBe(0);
  });
});

describe("S3.2 any wait", () => {
  const anyState = fc.constantFrom("ready" as const, "ready" as const, "slow" as const, "broken" as const);
  const anyStep = fc.record({ after: fc.integer({ min: 1, max: 20 }), state: anyState });
  const anyWait = fc.record({
    steps: fc.array(anyStep, { maxLength: 8 }),
    deadlineSeconds: fc.integer({ min: 1, max: 60 }),
    stableSeconds: fc.integer({ min: 0, max: 10 }),
  });

  test("ends as facts and settings determine, at exactly that second", async () => {
    await fc.assert(
      fc.asyncProperty(anyWait, async ({ steps, deadlineSeconds, stableSeconds }) => {
        const wait = new Waiting({ deadlineSeconds, stableSeconds });
        for (const { after, state } of steps) {
          await wait.clock.advance(after * 1000);
          await wait.say({ a: state });
        }
        await wait.clock.advance(120_000);
        const { kind, seconds } = await wait.end;
        expect({ kind, seconds }).toEqual(expected(steps, deadlineSeconds, stableSeconds));
      }),
      { numRuns: 150 },
    );
  });

  /** The same, computed second by second. */
  function expected(steps: readonly { after: number; state: string }[], deadline: number, stable: number) {
    const changes = new Map<number, string>();
    let moment = 0;
    for (const { after, state } of steps) {
      moment += after;
      changes.set(moment, state);
    }
    let since: number | undefined;
    for (let second = 0; second <= deadline; second += 1) {
      // What is due in the same second was due before any new observation, the deadline first.
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
