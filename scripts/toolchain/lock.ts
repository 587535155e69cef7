// One run at a time builds in the cache, also among several checkouts.
//
// Who wants the lock puts a claim, a file of its own, into the lock's folder, and has it when no other claim of a
// living process is there. A claim's name says whose it is, so one that a killed process left is known at once; and
// because no two claims share a name, taking it away can never hit another's.
import { mkdir, open, readdir, readFile, readlink, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface Times {
  /** Milliseconds between two looks at a lock that another holds. */
  readonly poll: number;
  /** How often a holder touches its claim. */
  readonly heartbeat: number;
  /** When a claim of another machine that was not touched counts as left behind: of its processes nothing is known. */
  readonly staleAfter: number;
}

const ordinaryTimes: Times = { poll: 500, heartbeat: 2_000, staleAfter: 30_000 };

/** Runs `work` while holding the lock; `onWait` is told once when another run holds it, and whose process that is. */
export async function withLock<T>(
  folder: string,
  onWait: (holder: string) => void,
  work: () => Promise<T>,
  times: Times = ordinaryTimes,
): Promise<T> {
  await mkdir(folder, { recursive: true });
  const claim = await newClaim();
  let told = false;
  for (let round = 1; ; round++) {
    const other = await take(folder, claim, times.staleAfter);
    if (other === undefined) break;
    // Two that start in the same moment see each other's claims and both step back, for unequal times.
    const collided = round < 4;
    if (!collided && !told) onWait(other.split(".")[0] ?? other);
    told ||= !collided;
    await sleep(Math.random() * (collided ? 40 : times.poll));
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(join(folder, claim), now, now).catch(() => undefined);
  }, times.heartbeat);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(join(folder, claim), { force: true });
  }
}

/** Takes the lock, or returns the claim that stands against it. */
async function take(folder: string, claim: string, staleAfter: number): Promise<string | undefined> {
  const before = await otherClaim(folder, claim, staleAfter);
  if (before !== undefined) return before;
  // Only who looks after its claim is there has the lock: of two, the later one then sees the other.
  await (await open(join(folder, claim), "wx")).close();
  const after = await otherClaim(folder, claim, staleAfter);
  if (after !== undefined) await rm(join(folder, claim), { force: true });
  return after;
}

async function otherClaim(folder: string, own: string, staleAfter: number): Promise<string | undefined> {
  for (const claim of await readdir(folder)) {
    if (claim === own) continue;
    if (await isAlive(folder, claim, staleAfter)) return claim;
    await rm(join(folder, claim), { force: true });
  }
  return undefined;
}

/** "<process>.<when it started>.<where it runs>.<random>": the first three name a process beyond doubt. */
async function newClaim(): Promise<string> {
  const random = Math.random().toString(36).slice(2);
  return [process.pid, await startOf(process.pid), await machine(), random].join(".");
}

async function isAlive(folder: string, claim: string, staleAfter: number): Promise<boolean> {
  const [pid, started, where] = claim.split(".");
  if (where === (await machine())) return (await startOf(Number(pid))) === started;
  // Another machine, or a container that shares the cache.
  const touched = await stat(join(folder, claim)).catch(() => undefined);
  return touched !== undefined && Date.now() - touched.mtimeMs < staleAfter;
}

/** When a process started, in ticks since the machine did; undefined when there is no such process. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name of the program, in brackets, may hold anything; what follows it is in columns.
  const [state, ...rest] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === "Z" ? undefined : rest[18];
}

/** What tells this machine, since it started, from others, and one container on it from the next. */
async function machine(): Promise<string> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
  const processes = await readlink("/proc/self/ns/pid");
  return `${boot.trim()}-${/\d+/.exec(processes)?.[0]}`;
}
