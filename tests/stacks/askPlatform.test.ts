import { describe, expect, jest, test } from "@jest/globals";
import type { Send } from "../../components/api/callApi.ts";
import { askPlatform, platformFailure, platformSilence, platformWarnings } from "../../stacks/askPlatform.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import type { ApiAnswers } from "../../stacks/platforms/apiCheck.ts";
import { rawConfig } from "../support/rawConfig.ts";

const config = parseClusterConfig(rawConfig("cloud"));
const access = { environment: "mine", isSettled: false, recorded: [] };
const ask = (send: Send) => askPlatform(config, { ...access, token: "hunter2", send });
const nothing = { findings: [], unchecked: [] };

describe("a platform that does not answer", () => {
  const fails = (code: string) => async () => {
    throw Object.assign(new Error(`connect ${code} 203.0.113.1:443`), { code });
  };
  const answers = (status: number, body: object) => async () => ({ status, reason: "", body: JSON.stringify(body) });

  test.each<[what: string, send: Send, reason: string]>([
    [
      "no network",
      fails("ENETUNREACH"),
      "https://api.hetzner.cloud/v1 does not answer: connect ENETUNREACH 203.0.113.1:443",
    ],
    [
      "a refusal",
      answers(403, { error: { code: "forbidden", message: "insufficient permissions" } }),
      "https://api.hetzner.cloud/v1 answers 403: insufficient permissions (forbidden)",
    ],
    [
      "too many calls",
      answers(429, { error: { code: "rate_limit_exceeded", message: "limit reached" } }),
      "https://api.hetzner.cloud/v1 answers 429: limit reached (rate_limit_exceeded)",
    ],
  ])("U2 is named in one line with the reason, and stops nothing: %s", async (_, send, reason) => {
    const answered = await ask(send);
    expect(answered).toEqual({ findings: [], unchecked: [reason] });
    expect(platformFailure(answered, "Pulumi.mine.yaml")).toBeUndefined();
    expect(platformSilence(answered, config.platform)).toBe(
      `not checked whether Hetzner has what this environment names: ${reason}`,
    );
  });

  test("U2 is waited for 3 s in all, however many calls follow each other", async () => {
    jest.useFakeTimers();
    try {
      const pending = ask(() => new Promise(() => undefined));
      await jest.advanceTimersByTimeAsync(2_999);
      let answered: ApiAnswers | undefined;
      void pending.then((answers) => {
        answered = answers;
      });
      await jest.advanceTimersByTimeAsync(0);
      expect(answered).toBeUndefined();
      await jest.advanceTimersByTimeAsync(1);
      expect(answered).toEqual({ findings: [], unchecked: ["nothing within 3 s"] });
    } finally {
      jest.useRealTimers();
    }
  });

  test("S5.3 is another thing than a token that it does not accept, which stops a run", async () => {
    const answered = await ask(answers(401, { error: { code: "unauthorized", message: "unable to authenticate" } }));
    const { message } = platformFailure(answered, "Pulumi.mine.yaml") ?? {};
    expect(message?.split("\n").slice(0, 2)).toEqual([
      "SLU-M123 The token is not sufficient: Pulumi.mine.yaml has 1 fault",
      "  seen:       hcloud:token: the token is not accepted: https://api.hetzner.cloud/v1 answers 401: unable to authenticate (unauthorized)",
    ]);
    expect(message).not.toContain("hunter2");
  });

  test("U2 is not asked without a token, and neither where nothing is created", async () => {
    expect(await askPlatform(config, access)).toEqual({
      findings: [],
      unchecked: ["no token: HCLOUD_TOKEN is not set"],
    });
    expect(await askPlatform(config, { ...access, reason: "the lab is not running" })).toEqual({
      ...nothing,
      unchecked: ["the lab is not running"],
    });
    expect(await askPlatform(parseClusterConfig(rawConfig("existing")), access)).toEqual(nothing);
  });
});

test("S6.1 what stops a run is one failure with all faults, and what does not is a warning of one line", () => {
  const answers: ApiAnswers = {
    findings: [
      { code: "SLU-M121", path: "hetzner.location", message: "'fsn9' is not a location of Hetzner" },
      { code: "SLU-M121", path: "hetzner.serverTypes.worker", message: "cx43 is sold out", isWarning: true },
      { code: "SLU-M101", path: "hetzner.snapshot", message: "there is none", remedy: "Make one." },
    ],
    unchecked: [],
  };
  expect(platformFailure(answers, "Pulumi.mine.yaml")?.message.split("\n")).toEqual([
    "SLU-M121 The platform does not have what the environment names: Pulumi.mine.yaml has 2 faults",
    "  seen:       hetzner.location: 'fsn9' is not a location of Hetzner",
    "              hetzner.snapshot: there is none",
    expect.stringMatching(/^ {2}cause: {6}SLU-M121: Its API does not list it/),
    "              SLU-M101: No snapshot in the project has the requested labels.",
    "  what to do: Correct the named settings.",
    "              Make one.",
  ]);
  expect(platformWarnings(answers)).toEqual(["hetzner.serverTypes.worker: cx43 is sold out"]);
  expect(platformSilence(answers, config.platform)).toBeUndefined();
});
