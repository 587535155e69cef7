import { describe, expect, test } from "@jest/globals";
import { pause } from "../../../components/waiting/clock.ts";
import { type EngineRun, type Resumed, type ResumeOptions, runResuming } from "../../../scripts/resume/resume.ts";
import { FakeClock } from "../../components/talos/fakeClock.ts";

const urnOf = (type: string, name: string) => `urn:pulumi:dev::sluice::${type}::${name}`;
const server = "hcloud:index/server:Server";
const line = (event: object) => JSON.stringify(event);
const failure = (message: string, type = server, name = "dev-cp-2") =>
  line({ diagnosticEvent: { urn: urnOf(type, name), message, severity: "error" } });
const created = (name: string) => line({ resOutputsEvent: { metadata: { op: "create", urn: urnOf(server, name) } } });
const planned = line({ resourcePreEvent: { metadata: { op: "create", urn: urnOf(server, "dev") }, planning: true } });

const unavailable = "hcloud: server responded with status code 503";
const up: EngineRun = { code: 0, log: "" };
const failed = (...lines: readonly string[]): EngineRun => ({ code: 255, log: lines.join("\n") });

interface Seen {
  readonly ended: Resumed;
  readonly lines: readonly string[];
  readonly runs: number;
  readonly confirmed: readonly boolean[];
  /** How often the state was prepared for the next run. */
  readonly settled: number;
  readonly seconds: number;
}

/** Runs an engine whose runs end like this, one after another; the last one is repeated. */
async function resume(
  engine: readonly EngineRun[],
  {
    interruptedIn,
    secondsEach = 0,
    ...options
  }: Partial<ResumeOptions> & { interruptedIn?: number; secondsEach?: number } = {},
): Promise<Seen> {
  const clock = new FakeClock();
  const interrupted = new AbortController();
  const [lines, confirmed]: [string[], boolean[]] = [[], []];
  let settled = 0;
  const ended = await runResuming({
    run: async ({ isConfirmed }) => {
      confirmed.push(isConfirmed);
      await pause(clock, secondsEach * 1000);
      if (confirmed.length === interruptedIn) interrupted.abort();
      return engine[Math.min(confirmed.length, engine.length) - 1] ?? up;
    },
    settle: async () => void settled++,
    prepare: async () => undefined,
    obstacle: async () => undefined,
    clock,
    interrupted: interrupted.signal,
    print: (text) => lines.push(text),
    ...options,
  });
  return { ended, lines, runs: confirmed.length, confirmed, settled, seconds: clock.now() / 1000 };
}

describe("S5.2 an up", () => {
  test("that succeeds is not run again", async () => {
    expect(await resume([up])).toMatchObject({ ended: { code: 0, times: 0 }, runs: 1, lines: [], settled: 0 });
  });

  test("is resumed after a transient failure, with a line that names the resource and what failed", async () => {
    const seen = await resume([failed(failure(unavailable)), up]);
    expect(seen).toMatchObject({ ended: { code: 0, times: 1 }, runs: 2, settled: 1, seconds: 10 });
    expect(seen.lines).toEqual(["resuming in 10 s: hcloud server dev-cp-2 answered 503 (attempt 2 of 5)"]);
  });

  test("counts what else failed for the same reason, and leaves out its consequences", async () => {
    const others = [failure(unavailable, server, "dev-w-1"), failure("context canceled", server, "dev-w-2")];
    const { lines } = await resume([failed(failure(unavailable), ...others), up]);
    expect(lines).toEqual(["resuming in 10 s: hcloud server dev-cp-2 answered 503 (and 1 more) (attempt 2 of 5)"]);
  });

  test("ends with the last run's code after five attempts that completed nothing, with growing delays", async () => {
    const seen = await resume([failed(failure(unavailable))]);
    expect(seen).toMatchObject({ runs: 5, settled: 5, seconds: 130 });
    expect(seen.ended).toEqual({
      code: 255,
      times: 4,
      hasFailed: true,
      gaveUp: "hcloud server dev-cp-2 answered 503, 5 times in a row",
    });
    expect(seen.lines.map((text) => /in (\d+) s/.exec(text)?.[1])).toEqual(["10", "20", "40", "60"]);
  });

  test("counts from the start again when a run completed something new, and not when it repeated the same", async () => {
    const stuck = failed(failure(unavailable), created("a"));
    const seen = await resume([stuck, stuck, failed(failure(unavailable), created("b")), stuck]);
    expect(seen.lines.map((text) => /in (\d+ s).*(\d of 5)/.exec(text)?.slice(1).join(", "))).toEqual([
      ...["10 s, 2 of 5", "20 s, 3 of 5", "10 s, 2 of 5", "20 s, 3 of 5", "40 s, 4 of 5", "60 s, 5 of 5"],
    ]);
  });

  test("is not resumed later than twenty minutes after the first failure, however much each run completes", async () => {
    const runs = Array.from({ length: 100 }, (_, index) => failed(failure(unavailable), created(`${index}`)));
    const seen = await resume(runs, { secondsEach: 290 });
    expect(seen).toMatchObject({
      runs: 5,
      ended: { gaveUp: "hcloud server dev-cp-2 answered 503, for more than 20 min" },
    });
  });

  test.each([
    ["a gate that stays closed", failure("SLU-K111 Cilium is not ready", "pulumi-nodejs:dynamic/gates:CiliumReady")],
    [
      "a transient failure beside one that is not",
      `${failure(unavailable)}\n${failure("invalid input (invalid_input)")}`,
    ],
    ["only what follows from something else", failure("context canceled")],
  ])("is not resumed after %s", async (_, log) => {
    expect(await resume([failed(log)])).toMatchObject({
      runs: 1,
      settled: 1,
      lines: [],
      ended: { code: 255, hasFailed: true },
    });
  });

  test("is not resumed if the engine did not start, as with a wrong passphrase or another run's lock", async () => {
    expect(await resume([failed()])).toMatchObject({ runs: 1, lines: [], ended: { code: 255, hasFailed: false } });
  });

  test("is not resumed once it was interrupted, in a run or between two", async () => {
    expect(await resume([failed(failure(unavailable))], { interruptedIn: 1 })).toMatchObject({ runs: 1, lines: [] });
    const between = new AbortController();
    const print = () => between.abort();
    const seen = await resume([failed(failure(unavailable))], { interrupted: between.signal, print });
    expect(seen).toMatchObject({ runs: 1, ended: { code: 255, times: 0 }, seconds: 0 });
    const preparing = new AbortController();
    const prepare = async () => preparing.abort();
    const last = await resume([failed(failure(unavailable))], { interrupted: preparing.signal, prepare });
    expect(last).toMatchObject({ runs: 1, ended: { code: 255, times: 0 } });
  });

  test.each([
    ["an option excludes it", { off: "--no-resume excludes it" }, "--no-resume excludes it"],
    [
      "another run would do something else",
      { obstacle: async () => "Pulumi.dev.yaml has changed" },
      "Pulumi.dev.yaml has changed",
    ],
  ])("is not resumed if %s, which is reported", async (_, options, gaveUp) => {
    expect(await resume([failed(failure(unavailable))], options)).toMatchObject({
      runs: 1,
      lines: [],
      ended: { gaveUp },
    });
  });

  test("reports that the plan is the one that the user confirmed, if there was a question", async () => {
    const { lines } = await resume([failed(planned, failure(unavailable)), failed(failure(unavailable)), up], {
      isAsked: true,
    });
    const ends = lines.map((text) => text.slice(text.indexOf("(")));
    expect(ends).toEqual(["(attempt 2 of 5)", "(attempt 3 of 5; the plan is the one that you confirmed)"]);
  });

  test("asks the user again only if the preview failed", async () => {
    const { confirmed } = await resume([failed(planned, failure(unavailable)), failed(failure(unavailable)), up]);
    expect(confirmed).toEqual([false, false, true]);
  });
});
