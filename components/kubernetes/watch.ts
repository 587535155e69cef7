// Lists objects and follows every change to them without gaps, for as long as needed.
import type { Clock } from "../waiting/clock.ts";
import { BackOff, type Delays, rounds } from "../waiting/rounds.ts";
import { type KubernetesClient, KubernetesError } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";

/** The objects of one kind, or why they are unknown. */
export type Seen<T> =
  | { readonly kind: "items"; readonly items: readonly T[] }
  | { readonly kind: "unreachable"; readonly why: string };

/** Milliseconds for a list, or for the start of a watch. */
const callDeadlineMs = 3_000;
/**
 * Seconds after which the server ends a watch. The next one continues where it ended, on a new connection: so a connection that died silently is noticed
 * after that time.
 */
const watchSeconds = 10;
/** Milliseconds after that until a watch counts as dead. */
const graceMs = 2_000;
/** Delays before a retry. */
const delays: Delays = { firstMs: 100, factor: 2, mostMs: 1_000 };
/** A healthy watch lasts at least this long. After a shorter one there is a delay, with or without an error. */
const leastLifeMs = 1_000;

export interface WatchOptions<T> {
  /** Of the list, with its selectors: `/api/v1/nodes?labelSelector=a%3Db`. */
  readonly path: string;
  report(seen: Seen<T>): void;
}

/** Reports the current objects at once, and again whenever they change, until the signal. Never rejects. */
export async function watch<T extends KubernetesObject>(
  client: KubernetesClient,
  { path, report }: WatchOptions<T>,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  const backOff = new BackOff(delays);
  let position: string | undefined;
  let told = false;
  const items = new Map<string, T>();
  const tell = () => {
    told = true;
    report({ kind: "items", items: [...items.values()] });
  };
  for await (const _ of rounds({ clock, backOff, signal })) {
    let begun: number | undefined;
    try {
      if (position === undefined) {
        const list = await client.json<List<T>>(path, { signal, deadlineMs: callDeadlineMs });
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
        if (changes.length > 0) backOff.reset();
        if (!told || changes.some(({ type }) => type !== "BOOKMARK")) tell();
      }
    } catch (error) {
      if (signal.aborted) return;
      // A watch that broke is restarted where it ended; only if that fails is the API unreachable.
      const status = error instanceof KubernetesError ? error.status : undefined;
      if (error instanceof Gone || status === 410) position = undefined;
      // The kind does not exist yet: its definition is installed by the stage that is waited for.
      else if (status === 404) report({ kind: "items", items: [] });
      else if (!(error instanceof BrokenOff)) {
        told = false;
        report({ kind: "unreachable", why: (error as Error).message });
      }
    }
    if (begun !== undefined && clock.now() - begun >= leastLifeMs) backOff.skip();
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

/** The position is too old: the list must be read again. */
class Gone extends Error {}
/** A watch ended unexpectedly after it had started. */
class BrokenOff extends Error {}

/** The changes since a position, batched as they arrive, until the server ends the watch; an empty batch as soon as it has started. */
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
  const response = await client.answer(`${url.pathname}${url.search}`, { signal, deadlineMs: callDeadlineMs });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new KubernetesError(`${response.statusCode} for a watch of ${path}`, { status: response.statusCode ?? 0 });
  }
  const cancel = clock.after(watchSeconds * 1000 + graceMs, () => response.destroy(new Error("the watch is dead")));
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
    cancel();
    response.destroy();
  }
}

function keyOf({ metadata: { namespace = "", name } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}
