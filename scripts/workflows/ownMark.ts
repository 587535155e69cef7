// Comments and issues that the workflows keep are found again by a mark at their beginning that nobody sees.

/** A comment or an issue, as GitHub tells of it. */
export interface Post {
  readonly body?: string | null;
  readonly user: { readonly login: string } | null;
}

/** Who the token of a workflow run writes as. */
const author = "github-actions[bot]";

export function ownMark(kind: "preview" | "drift", environment: string): string {
  return `<!-- sluice:${kind}:${environment} -->`;
}

/** The marked ones, oldest first. One that a person wrote with the mark in it, or quotes, is not ours to change. */
export function findOwn<T extends Post & { readonly id: number }>(posts: readonly T[], mark: string): T[] {
  return posts.filter(({ body, user }) => user?.login === author && body?.startsWith(mark)).sort((a, b) => a.id - b.id);
}
