import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { GitHubError } from "../../../scripts/workflows/github.ts";
import { putPreviewComment } from "../../../scripts/workflows/previewComment.ts";
import { type FakeGitHub, startFakeGitHub } from "./fakeGitHub.ts";

let fake: FakeGitHub;
beforeEach(async () => {
  fake = await startFakeGitHub();
});
afterEach(() => fake.stop());

const put = (environment: string, report: string) => putPreviewComment(fake.github, 7, environment, report);
const bodies = () => fake.comments.map(({ body }) => body);

describe("U2 the comment on a pull request", () => {
  test("is created once for each environment and updated in place from then on", async () => {
    expect(await put("home", "first")).toBe("created");
    expect(await put("cloud", "other")).toBe("created");
    expect(await put("home", "second")).toBe("updated");
    expect(bodies()).toEqual(["<!-- sluice:preview:home -->\nsecond", "<!-- sluice:preview:cloud -->\nother"]);
  });

  test("is found among more comments than fit on a page", async () => {
    for (let i = 0; i < 230; i++) fake.post("comments", `talk ${i}`, "somebody");
    await put("home", "first");
    for (let i = 0; i < 30; i++) fake.post("comments", `more talk ${i}`, "somebody");
    expect(await put("home", "second")).toBe("updated");
    expect(bodies().filter((body) => body.includes("sluice:preview"))).toHaveLength(1);
  });

  test("is never a user's, even where that begins with the mark", async () => {
    const theirs = fake.post("comments", "<!-- sluice:preview:home -->\nmine", "somebody");
    expect(await put("home", "report")).toBe("created");
    expect(theirs.body).toBe("<!-- sluice:preview:home -->\nmine");
  });

  test("is not that of an environment whose name starts with the same text", async () => {
    await put("home-2", "other");
    expect(await put("home", "report")).toBe("created");
  });

  test("is the oldest if two runs created one each; the other is deleted", async () => {
    fake.post("comments", "<!-- sluice:preview:home -->\nb");
    fake.post("comments", "<!-- sluice:preview:home -->\nc");
    await put("home", "d");
    expect(bodies()).toEqual(["<!-- sluice:preview:home -->\nd"]);
  });

  test("that the token may not write is an error with the reason", async () => {
    fake.refuse(403);
    const error = await put("home", "report").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GitHubError);
    expect(error).toMatchObject({
      isRefusal: true,
      message: "GitHub: GET /issues/7/comments?per_page=100&page=1: 403 Resource not accessible by integration",
    });
  });
});
