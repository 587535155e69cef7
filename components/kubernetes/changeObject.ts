import { type KubernetesClient, KubernetesError } from "./client.ts";

const callDeadlineMs = 2_000;

interface Change {
  /** Default: none, because deletions are also needed after a wait has ended. */
  readonly signal?: AbortSignal;
  readonly body?: unknown;
}

/** Creating an object that exists, or reading, changing or deleting one that is gone, is no error: the result is undefined. */
export async function changeObject<T>(
  client: KubernetesClient,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  { signal = new AbortController().signal, body }: Change = {},
): Promise<T | undefined> {
  try {
    return await client.json<T>(path, { method, body, signal, deadlineMs: callDeadlineMs });
  } catch (error) {
    const isDone = error instanceof KubernetesError && error.status === (method === "POST" ? 409 : 404);
    if (!isDone) throw error;
    return undefined;
  }
}
