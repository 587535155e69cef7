// Workflows find their own comments and issues by an invisible mark at the start of the text.

/** A comment or an issue, as GitHub returns it. */
export interface Post {
  readonly body?: string | null;
  readonly user: { readonly login: string } | null;
}

/** The author of what a workflow run's token writes. */
const author = "github-actions[bot]";

export function ownMark(kind: "preview" | "drift", environment: string): string {
  return `<!-- sluice:${kind}:${environment} -->`;
}

/** The marked ones, oldest first. Users' posts that contain or quote the mark are not changed. */
export function findOwn<T extends Post & { readonly id: number }>(posts: readonly T[], mark: string): T[] {
  return posts.filter(({ body, user }) => user?.login === author && body?.startsWith(mark)).sort((a, b) => a.id - b.id);
}
