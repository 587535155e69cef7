import type { GitHub } from "./github.ts";
import { findOwn, ownMark, type Post } from "./ownMark.ts";

interface Comment extends Post {
  readonly id: number;
}

/** Puts the report into the one comment that a pull request has for the environment, and makes it where there is none. */
export async function putPreviewComment(
  github: GitHub,
  pull: number,
  environment: string,
  report: string,
): Promise<"made" | "updated"> {
  const mark = ownMark("preview", environment);
  const body = `${mark}\n${report}`;
  const [first, ...others] = findOwn(await github.all<Comment>(`/issues/${pull}/comments`), mark);
  // Two runs that overlapped may each have made one.
  for (const { id } of others) await github.delete(`/issues/comments/${id}`);
  if (first === undefined) {
    await github.post(`/issues/${pull}/comments`, { body });
    return "made";
  }
  await github.patch(`/issues/comments/${first.id}`, { body });
  return "updated";
}
