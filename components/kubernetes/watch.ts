// Lists what there is and follows every change of it, without a gap and for as long as it takes.
import { type Clock, pause } from "../gates/clock.ts";
import { type KubernetesClient, KubernetesError } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";

/** What is known of one kind of object, or why nothing is. */
export type Seen<T> =
  | { readonly kind: "items"; readonly items: readonly T[] }
  | { readonly kind: "unreachable"; readonly why: string };

/** Milliseconds that a list or the beginning of a watch may take. */
const patience = 3_000;
/**
 * Seconds after which the server ends a watch. The next one goes on where it ended, by a new connection: so one whose other end is gone
 * without a word is not believed for longer.
 */
const watchSeconds = 10;
/** Milliseconds beyond that after which a watch counts as dead. */
const grace = 2_000;
/** Milliseconds before a new try: first, and at most. */
const backOff = { first: 100, most: 1_000 };
/** Milliseconds that a watch lasts at least where all is well. After one that ended sooner is paused, with or without an error. */
const leastLife = 1_000;

export interface WatchOptions<T> {
  /** Of the list, with its selectors: `/api/v1/nodes?labelSelector=a%3Db`. */
  readonly path: string;
  report(seen: Seen<T>): void;
}

/** Reports what there is, at once and whenever it changes, until the signal. Never rejects. */
export async function watch<T extends KubernetesObject>(
  client: KubernetesClient,
  { path, report }: WatchOptions<T>,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  let delay = backOff.first;
  let position: string | undefined;
  let told = false;
  const items = new Map<string, T>();
  const tell = () => {
    told = true;
    report({ kind: "items", items: [...items.values()] });
  };
  while (!signal.aborted) {
    let begun: number | undefined;
    try {
      if (position === undefined) {
        const list = await client.json<List<T>>(path, { signal, patience });
        items.clear();
        for (const object of list.items) items.set(keyOf(object), object);
        position = list.metadata.resourceVersion;
        tell();
      }
      for await (const changes of watchOnce<T>(client, path, position, signal, clock)) {
        begun ??= clock.now();
        for (const { type, object } of changes) {
          if (type === "ERROR") throw new Gone();
          position = object.metadata.resourceVersion;
          if (type === "DELETED") items.delete(keyOf(object));
          else if (type !== "BOOKMARK") items.set(keyOf(object), object);
        }
        if (changes.length > 0) delay = backOff.first;
        if (!told || changes.some(({ type }) => type !== "BOOKMARK")) tell();
      }
    } catch (error) {
      if (signal.aborted) return;
      // A watch that broke off is begun again where it was, and only when that fails is the API out of reach.
      const status = error instanceof KubernetesError ? error.status : undefined;
      if (error instanceof Gone || status === 410) position = undefined;
      // The kind itself is not there yet: its definition comes with the stage that is waited for.
      else if (status === 404) report({ kind: "items", items: [] });
      else if (!(error instanceof BrokenOff)) {
        told = false;
        report({ kind: "unreachable", why: (error as Error).message });
      }
    }
    const isSteady = begun !== undefined && clock.now() - begun >= leastLife;
    if (!isSteady) await pause(clock, delay, signal);
    delay = isSteady ? backOff.first : Math.min(delay * 2, backOff.most);
  }
}

interface List<T> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly T[];
}

interface Change<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T & { readonly metadata: { readonly resourceVersion: string } };
}

/** The position is too old: the list has to be read again. */
class Gone extends Error {}
/** A watch that had begun came to an unexpected end. */
class BrokenOff extends Error {}

/** The changes since a position, as many at a time as come together, until the server ends it; at first none, as soon as it has begun. */
async function* watchOnce<T>(
  client: KubernetesClient,
  path: string,
  position: string,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<readonly Change<T>[]> {
  const url = new URL(path, client.server);
  url.searchParams.set("watch", "true");
  url.searchParams.set("allowWatchBookmarks", "true");
  url.searchParams.set("timeoutSeconds", String(watchSeconds));
  url.searchParams.set("resourceVersion", position);
  const response = await client.answer(`${url.pathname}${url.search}`, { signal, patience });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new KubernetesError(`${response.statusCode} for a watch of ${path}`, { status: response.statusCode ?? 0 });
  }
  const takeBack = clock.after(watchSeconds * 1000 + grace, () => response.destroy(new Error("the watch is dead")));
  let rest = "";
  try {
    yield [];
    for await (const text of response.setEncoding("utf8")) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      yield lines.filter((line) => line !== "").map((line) => JSON.parse(line));
    }
  } catch (error) {
    throw new BrokenOff((error as Error).message);
  } finally {
    takeBack();
    response.destroy();
  }
}

function keyOf({ metadata: { namespace = "", name } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}
