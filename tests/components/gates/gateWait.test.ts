import { beforeEach, describe, expect, test } from "@jest/globals";
import type { GateCheck } from "../../../components/gates/gateDefinition.ts";
import { type Passed, pass } from "../../../components/gates/gateWait.ts";
import type { GateSettings } from "../../../components/waiting/condition.ts";
import { Feed } from "./feed.ts";
import { SteppedClock, settled } from "./steppedClock.ts";

type Health = "ready" | "slow" | "broken";

let clock: SteppedClock;
let feed: Feed<Health>;
let told: string[];
let passed: Passed | undefined;
let failed: Error | undefined;

const check: GateCheck<object, Health> = {
  name: "Etcd",
  timeoutCode: "SLU-T321",
  conditions: () => [
    {
      phrase: "etcd to be healthy",
      evaluate: (health) => {
        if (health === "ready") return [];
        if (health === "slow") return [{ kind: "pending", where: "cp-2", reason: "is slow" }];
        return [{ kind: "failed", where: "cp-2", reason: "is broken", code: "SLU-T322" }];
      },
    },
  ],
  observe: (_, signal) => feed.observe(signal),
  evidence: (health) => ({ health }),
};

function begin(settings: Partial<GateSettings> = {}): void {
  const context = { clock, report: (text: string) => void told.push(text) };
  pass(check as GateCheck<object, unknown>, {}, { deadlineSeconds: 60, stableSeconds: 5, ...settings }, context).then(
    (result) => {
      passed = result;
      result.open.proof.catch((error) => {
        failed = error;
      });
    },
    (error) => {
      failed = error;
    },
  );
}

async function say(health: Health): Promise<void> {
  feed.say(health);
  await settled();
}

/** Whether the window has passed. */
async function isProven(): Promise<boolean> {
  const none = Symbol();
  return (await Promise.race([passed?.open.proof, settled().then(() => none)])) !== none;
}

describe("S3.2 S10.1 a gate's wait", () => {
  beforeEach(() => {
    clock = new SteppedClock();
    feed = new Feed();
    told = [];
    passed = undefined;
    failed = undefined;
  });

  test("opens the gate once its conditions are met, and proves it when its stability window has passed", async () => {
    begin();
    await say("slow");
    await clock.advance(2_000);
    await say("ready");
    expect(passed).toMatchObject({ evidence: { health: "ready" }, seconds: 2 });
    expect(passed?.wait).toEqual({ began: 0, held: 2_000, opened: 2_000, stableSeconds: 0 });
    await clock.advance(4_999);
    expect(await isProven()).toBe(false);
    await clock.advance(1);
    expect(await isProven()).toBe(true);
    expect(feed.watched).toBe(false);
  });

  test("starts the window again when a condition is no longer met, and says what it waits for to the gate behind it", async () => {
    begin();
    await say("ready");
    const heard: string[] = [];
    void passed?.open.prove((text) => heard.push(text));
    await clock.advance(4_000);
    await say("slow");
    await clock.advance(3_000);
    await say("ready");
    await clock.advance(4_999);
    expect(await isProven()).toBe(false);
    await clock.advance(1);
    expect(await isProven()).toBe(true);
    expect(heard).toEqual([
      "Etcd has opened: must stay open for its stability window",
      "Etcd has opened: cp-2: is slow; waits for etcd to be healthy",
      "Etcd has opened: all conditions are met, and must stay so for 5 s",
    ]);
    expect(told).not.toContain("cp-2: is slow; waits for etcd to be healthy");
  });

  test("fails the gates behind it if it fails within its window, and says that it had opened", async () => {
    begin();
    await say("ready");
    await clock.advance(1_000);
    await say("broken");
    expect(failed?.message.split("\n")).toEqual([
      expect.stringMatching(/^SLU-T322 .*: gate Etcd opened, and then failed after 1 s$/),
      "  expected:   etcd to be healthy",
      "  seen:       cp-2: is broken",
      expect.stringMatching(/^ {2}cause: /),
      expect.stringMatching(/^ {2}what to do: /),
    ]);
  });

  test("fails if the conditions do not stay met for the window within a second deadline", async () => {
    begin({ deadlineSeconds: 10 });
    await say("ready");
    await clock.advance(1_000);
    await say("slow");
    await clock.advance(9_000);
    expect(failed?.message).toMatch(/^SLU-T321 .*: gate Etcd opened, and then did not stay open for 5 s within 10 s\n/);
  });

  test("opens a strict gate only after its window", async () => {
    begin({ isStrict: true });
    await say("ready");
    await clock.advance(4_999);
    expect(passed).toBeUndefined();
    await clock.advance(1);
    await settled();
    expect(passed).toMatchObject({
      seconds: 5,
      wait: { began: 0, held: 0, opened: 5_000, stableSeconds: 5 },
    });
  });

  test("fails before it has opened as any gate does", async () => {
    begin({ deadlineSeconds: 10 });
    await say("slow");
    await clock.advance(10_000);
    expect(failed?.message).toMatch(/^SLU-T321 .*: gate Etcd did not open within 10 s\n/);
  });
});
