import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { recordDrift } from "../../../scripts/workflows/driftIssue.ts";
import type { Drift } from "../../../scripts/workflows/driftReport.ts";
import { type FakeGitHub, startFakeGitHub } from "./fakeGitHub.ts";

let fake: FakeGitHub;
beforeEach(async () => {
  fake = await startFakeGitHub();
});
afterEach(() => fake.stop());

const drift = (text: string): Drift => ({
  state: "found",
  resources: [{ name: "w-1", type: "hcloud:index/server:Server", how: "differs" }],
  text,
});
const none: Drift = { state: "none" };
const record = (found: Drift, environment = "home") =>
  recordDrift(fake.github, environment, found, "https://github.com/me/sluice/actions/runs/1");

describe("U3 the drift issue", () => {
  test("is opened once, kept up to date, and closed when the drift is gone", async () => {
    expect(await record(drift("~ serverType"))).toBe("opened");
    expect(await record(drift("~ labels"))).toBe("updated");
    expect(fake.issues).toHaveLength(1);
    expect(fake.issues[0]).toMatchObject({ title: "Drift in home", state: "open" });
    expect(fake.issues[0]?.body).toContain("- `w-1` differs (`hcloud:index/server:Server`)");
    expect(fake.issues[0]?.body).toContain("~ labels");
    expect(fake.issues[0]?.body).not.toContain("~ serverType");
    expect(await record(none)).toBe("closed");
    expect(fake.issues[0]).toMatchObject({ state: "closed" });
    expect(fake.said).toEqual([
      "/issues/100/comments The drift is gone. ([run](https://github.com/me/sluice/actions/runs/1))",
    ]);
  });

  test("is another one after it was closed, and another one for another environment", async () => {
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

  test("stays as it is where the check failed, which proves nothing", async () => {
    await record(drift("a"));
    expect(await record({ state: "failed", text: "error: unreachable" })).toBe("nothing");
    expect(fake.issues[0]).toMatchObject({ state: "open" });
    expect(await record(none, "cloud")).toBe("nothing");
  });

  test("is never a person's issue, nor a pull request", async () => {
    fake.post("issues", "<!-- sluice:drift:home -->\nmine", "somebody");
    fake.post("issues", "<!-- sluice:drift:home -->\npull", undefined, { pull_request: {} });
    expect(await record(none)).toBe("nothing");
    expect(await record(drift("a"))).toBe("opened");
  });

  test("is one: a second one that got opened is closed with a pointer to the first", async () => {
    const first = fake.post("issues", "<!-- sluice:drift:home -->\na");
    const second = fake.post("issues", "<!-- sluice:drift:home -->\nb");
    expect(await record(drift("c"))).toBe("updated");
    expect([first.state, second.state]).toEqual(["open", "closed"]);
    expect(fake.said[0]).toContain(`Continued in #${first.number}.`);
  });
});
