import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { resumedUp } from "../../../scripts/resume/resumedUp.ts";
import { FakeClock } from "../../components/talos/fakeClock.ts";

const name = `test-${process.pid}-resumed`;
const file = join(root, `Pulumi.${name}.yaml`);
const stack = { name, environment: {}, options: [], local: undefined, lab: undefined };
const failure = JSON.stringify({
  diagnosticEvent: {
    urn: "urn:pulumi:x::sluice::hcloud:index/server:Server::x-cp-2",
    message: "hcloud: server responded with status code 503",
    severity: "error",
  },
});
const line =
  "sluice: resuming in 10 s: hcloud server x-cp-2 answered 503 (attempt 2 of 5; the plan is the one that you confirmed)";

describe("S5.2 an up that resumes", () => {
  let said: jest.SpiedFunction<typeof console.error>;
  beforeEach(() => {
    said = jest.spyOn(console, "error").mockImplementation(() => undefined);
    writeFileSync(file, "config: {}\n");
  });
  afterEach(() => {
    said.mockRestore();
    rmSync(file);
  });

  /** With an engine whose runs write this to their event log and end with its code; `in between` happens during the first. */
  async function up(logs: readonly (string | undefined)[], { options = [] as string[], during = () => {} } = {}) {
    const calls: (readonly string[])[] = [];
    const ended = await resumedUp(stack, options, {
      engine: async (given, { PULUMI_DEBUG_COMMANDS }) => {
        expect(PULUMI_DEBUG_COMMANDS).toBe("true");
        const [option, log = "", ...rest] = given;
        expect(option).toBe("--event-log");
        expect([statSync(log).mode & 0o777, readFileSync(log, "utf8")]).toEqual([0o600, ""]);
        const text = logs[calls.push(rest) - 1];
        during();
        if (text !== undefined) writeFileSync(log, text);
        return text === undefined && calls.length === logs.length ? 0 : 255;
      },
      settle: async () => undefined,
      prepare: async () => undefined,
      clock: new FakeClock(),
    });
    return { ended, calls, lines: said.mock.calls.map(([text]) => text) };
  }

  test("prints each reason, and at the end that the cluster is up", async () => {
    const { ended, calls, lines } = await up([failure, undefined]);
    expect(ended).toMatchObject({ code: 0, times: 1, advice: undefined });
    expect(lines).toEqual([line]);
    expect(calls).toEqual([[], ["--yes", "--skip-preview"]]);
  });

  test("does not read the log of the run before when the engine did not start", async () => {
    const { ended, lines } = await up([failure, undefined, undefined]);
    expect(ended).toMatchObject({ code: 255, times: 1, advice: undefined });
    expect(lines).toEqual([line]);
  });

  test.each([
    [
      "update, also one that fails",
      '{"preludeEvent":{}}\n{"resOpFailedEvent":{"metadata":{"op":"create","urn":"u"}}}',
      true,
    ],
    ["preview that nobody confirmed", '{"preludeEvent":{}}\n{"summaryEvent":{"isPreview":true}}', false],
    ["wrong passphrase, a lock or a wrong option: no event", "", false],
  ])("reports whether it came to an %s", async (_, log, expected) => {
    expect((await up([log])).ended.hasRun).toBe(expected);
  });

  test("ends when the environment's file was changed, and says what to type", async () => {
    const { ended } = await up([failure], { during: () => writeFileSync(file, "config: { a: 1 }\n") });
    expect(ended).toMatchObject({
      times: 0,
      advice: `not resumed: Pulumi.${name}.yaml has changed since this run started. 'npm run up -- ${name}' resumes; completed steps are not repeated`,
    });
  });

  test("ends after the first run with --no-resume, which the engine does not get", async () => {
    const { ended, calls } = await up([failure], { options: ["--yes", "--no-resume"] });
    expect(calls).toEqual([["--yes"]]);
    expect(ended.advice).toContain("not resumed: --no-resume excludes it. 'npm run up -- ");
  });

  test("ends when it is interrupted, and leaves no signal handler behind", async () => {
    const before = process.listenerCount("SIGINT");
    const { ended, lines } = await up([failure], { during: () => void process.emit("SIGINT") });
    expect(ended).toMatchObject({ code: 255, times: 0, advice: expect.stringMatching(/^'npm run up -- /) });
    expect(lines).toEqual([]);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});
