import type { GitHub } from "./github.ts";
import { findOwn, ownMark, type Post } from "./ownMark.ts";

interface Comment extends Post {
  readonly id: number;
}

/** Writes the report into the pull request's only comment for the environment, or creates it. */
export async function putPreviewComment(
  github: GitHub,
  pull: number,
  environment: string,
  report: string,
): Promise<"created" | "updated"> {
  const mark = ownMark("preview", environment);
  const body = `${mark}\n${report}`;
  const [first, ...others] = findOwn(await github.all<Comment>(`/issues/${pull}/comments`), mark);
  // Two overlapping runs may each have created one.
  for (const { id } of others) await github.delete(`/issues/comments/${id}`);
  if (first === undefined) {
    await github.post(`/issues/${pull}/comments`, { body });
    return "created";
  }
  await github.patch(`/issues/comments/${first.id}`, { body });
  return "updated";
}
