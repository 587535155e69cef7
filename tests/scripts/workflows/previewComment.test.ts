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
  test("is made once for each environment and updated in place from then on", async () => {
    expect(await put("home", "first")).toBe("made");
    expect(await put("cloud", "other")).toBe("made");
    expect(await put("home", "second")).toBe("updated");
    expect(bodies()).toEqual(["<!-- sluice:preview:home -->\nsecond", "<!-- sluice:preview:cloud -->\nother"]);
  });

  test("is found behind more comments than a page holds", async () => {
    for (let i = 0; i < 230; i++) fake.post("comments", `talk ${i}`, "somebody");
    await put("home", "first");
    for (let i = 0; i < 30; i++) fake.post("comments", `more talk ${i}`, "somebody");
    expect(await put("home", "second")).toBe("updated");
    expect(bodies().filter((body) => body.includes("sluice:preview"))).toHaveLength(1);
  });

  test("is never a person's, even where that begins with the mark", async () => {
    const theirs = fake.post("comments", "<!-- sluice:preview:home -->\nmine", "somebody");
    expect(await put("home", "report")).toBe("made");
    expect(theirs.body).toBe("<!-- sluice:preview:home -->\nmine");
  });

  test("is not that of an environment whose name begins alike", async () => {
    await put("home-2", "other");
    expect(await put("home", "report")).toBe("made");
  });

  test("is the oldest where two runs made one each; the other is removed", async () => {
    fake.post("comments", "<!-- sluice:preview:home -->\nb");
    fake.post("comments", "<!-- sluice:preview:home -->\nc");
    await put("home", "d");
    expect(bodies()).toEqual(["<!-- sluice:preview:home -->\nd"]);
  });

  test("that the token may not write is an error which says so", async () => {
    fake.refuse(403);
    const error = await put("home", "report").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GitHubError);
    expect(error).toMatchObject({
      isRefusal: true,
      message: "GitHub: GET /issues/7/comments?per_page=100&page=1: 403 Resource not accessible by integration",
    });
  });
});
