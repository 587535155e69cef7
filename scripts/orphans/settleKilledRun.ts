// Before a run: ends what a killed engine left running, and removes the lock that it held. After a run that was killed: ends the same at once.
import { Failure } from "../base/fail.ts";
import { startOf } from "../base/processIdentity.ts";
import { type RunningProcess, runningProcesses } from "../base/processList.ts";
import { markOfStack } from "../stack/engine.ts";
import { isStale, type Lock, markVariable, readLocks, removeLock } from "../stack/locks.ts";
import { localFolder, type Stack } from "../stack/stack.ts";
import { leftovers } from "./leftovers.ts";

/** Throws if another run is in progress: the engine would find that out later, and suggest a command that does not work here. */
export async function settleKilledRun(stack: Stack): Promise<void> {
  if (process.platform !== "linux") return;
  const folder = localFolder(stack.environment);
  const locks = folder === undefined ? [] : await readLocks(folder, stack.name);
  // Lists processes after reading the locks, so that a run that takes a lock after that is not affected.
  const processes = runningProcesses(markVariable);
  const mark = markOfStack(stack);
  for (const lock of locks) await settleLock(lock, { name: stack.name, mark }, processes);
  endLeftovers(mark, processes);
}

/** What a killed engine of this stack left running would create something beside the next run, or long after this one. */
export function endKilledRun(stack: Stack): void {
  if (process.platform === "linux") endLeftovers(markOfStack(stack), runningProcesses(markVariable));
}

function endLeftovers(mark: string, processes: readonly RunningProcess[]): void {
  const left = leftovers(processes, mark);
  for (const one of left) end(one);
  if (left.length > 0) {
    const names = [...new Set(left.map(({ name }) => name))].join(", ");
    console.error(`sluice: ended what a killed engine had left running: ${names}`);
  }
}

/** Ends only exactly the process that was found. */
function end({ pid, start }: RunningProcess): void {
  if (startOf(pid) !== start) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

async function settleLock(
  lock: Lock,
  { name, mark }: { readonly name: string; readonly mark: string },
  processes: readonly RunningProcess[],
): Promise<void> {
  const { content } = lock;
  if (content !== undefined && !isStale(lock, mark, processes)) {
    const { username, hostname: host, timestamp } = content;
    throw new Failure(
      `another run of ${name} is in progress, by ${username} on ${host} since ${timestamp}: wait until it has ended. If there is none: npm run pulumi -- cancel --stack ${name}`,
    );
  }
  await removeLock(lock);
  const since = content === undefined ? "" : `, taken at ${content.timestamp}`;
  console.error(`sluice: removed the lock of a killed engine${since}`);
}
