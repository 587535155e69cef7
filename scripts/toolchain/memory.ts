// How much memory Go's compiler may use. By default it collects garbage all the time, which takes two thirds of the processor time, although each compilation
// is short. So garbage collection is off, up to a limit that leaves half of the machine's memory to others.
import { availableParallelism, totalmem } from "node:os";

/** MiB below which the compiler would collect garbage most of the time. */
const leastMib = 768;
/** MiB that are enough for any package and program: without garbage collection the largest package takes 1.8 GiB, the largest link 2.0 GiB. */
const mostMib = 2048;

/** Environment variables for calls of go that compile. */
export function compilerMemory(cores = availableParallelism(), bytes = availableMemory()): Record<string, string> {
  // There are as many compilers at once as cores.
  const limit = Math.floor(bytes / 2 ** 20 / 2 / cores);
  return limit < leastMib ? {} : { GOGC: "off", GOMEMLIMIT: `${Math.min(limit, mostMib)}MiB` };
}

/** The memory of the machine, or of the container. */
function availableMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}
