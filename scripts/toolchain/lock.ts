// One build of a tool at a time, also among several checkouts: a lock file that its holder touches while it lives.
// A holder that was killed stops touching it, so nothing has to be cleaned up by hand.
import { mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const heartbeat = 2_000;
const staleAfter = 15_000;

/** Runs `work` while holding the lock; `onWait` is told once when another run holds it. */
export async function withLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  let waiting = false;
  while (!(await take(path))) {
    if (!waiting) onWait();
    waiting = true;
    await sleep(500);
  }
  const beat = setInterval(() => {
    const now = new Date();
    // A lock that is gone was judged stale while this process was stopped; what it publishes is whole all the same.
    utimes(path, now, now).catch(() => undefined);
  }, heartbeat);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const age = await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  if (age > staleAfter) await rm(path, { force: true });
  return false;
}
