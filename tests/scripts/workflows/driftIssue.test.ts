import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Drift } from "../../../scripts/drift/report.ts";
import { recordDrift } from "../../../scripts/workflows/driftIssue.ts";
import { type FakeGitHub, startFakeGitHub } from "./fakeGitHub.ts";

let fake: FakeGitHub;
beforeEach(async () => {
  fake = await startFakeGitHub();
});
afterEach(() => fake.stop());

const drift = (text: string): Drift => ({
  state: "found",
  drifts: [`server w-1: ${text}`],
  unseen: ["node w-2: does not answer"],
});
const none: Drift = { state: "none" };
const record = (found: Drift, environment = "home") =>
  recordDrift(fake.github, environment, found, {
    run: "https://github.com/me/sluice/actions/runs/1",
    mask: (text) => text.replaceAll("hunter2", "[masked]"),
  });

describe("U3 the drift issue", () => {
  test("is opened once, kept up to date, and closed when the drift is gone", async () => {
    expect(await record(drift("serverType is cx33"))).toBe("opened");
    expect(await record(drift("labels.a is hunter2"))).toBe("updated");
    expect(fake.issues).toHaveLength(1);
    expect(fake.issues[0]).toMatchObject({ title: "Drift in home", state: "open" });
    expect(fake.issues[0]?.body).toContain("server w-1: labels.a is [masked]");
    expect(fake.issues[0]?.body).toContain("node w-2: does not answer");
    expect(fake.issues[0]?.body).toContain("npm run up -- home --refresh");
    expect(fake.issues[0]?.body).not.toContain("serverType");
    expect(await record(none)).toBe("closed");
    expect(fake.issues[0]).toMatchObject({ state: "closed" });
    expect(fake.said).toEqual([
      "/issues/100/comments The drift is gone. ([run](https://github.com/me/sluice/actions/runs/1))",
    ]);
  });

  test("is a new one after it was closed, and for another environment", async () => {
    await record(drift("a"));
    await record(none);
    await record(drift("b"));
    await record(drift("c"), "cloud");
    expect(fake.issues.map(({ title, state }) => [title, state])).toEqual([
      ["Drift in home", "closed"],
      ["Drift in home", "open"],
      ["Drift in cloud", "open"],
    ]);
  });

  test("stays unchanged if the check failed or was incomplete, which proves nothing", async () => {
    await record(drift("a"));
    expect(await record({ state: "failed", text: "error: unreachable" })).toBe("nothing");
    expect(await record({ state: "unseen", unseen: ["node w-1: does not answer"] })).toBe("nothing");
    expect(fake.issues[0]).toMatchObject({ state: "open" });
    expect(await record(none, "cloud")).toBe("nothing");
  });

  test("is never a user's issue, nor a pull request", async () => {
    fake.post("issues", "<!-- sluice:drift:home -->\nmine", "somebody");
    fake.post("issues", "<!-- sluice:drift:home -->\npull", undefined, { pull_request: {} });
    expect(await record(none)).toBe("nothing");
    expect(await record(drift("a"))).toBe("opened");
  });

  test("is unique: a second one is closed with a pointer to the first", async () => {
    const first = fake.post("issues", "<!-- sluice:drift:home -->\na");
    const second = fake.post("issues", "<!-- sluice:drift:home -->\nb");
    expect(await record(drift("c"))).toBe("updated");
    expect([first.state, second.state]).toEqual(["open", "closed"]);
    expect(fake.said[0]).toContain(`Continued in #${first.number}.`);
  });
});
