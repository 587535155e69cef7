// Finds the processes that a killed engine left running: it does not end its plugins.
import type { RunningProcess } from "../base/processList.ts";
import { engineName } from "../stack/locks.ts";

/** The program that starts the engine inside a lab and waits for it. */
const starterName = "sluice-lab";

/** Processes of one stack, by their mark, that have no engine of it above or below them: one that was killed started them. */
export function leftovers(processes: readonly RunningProcess[], mark: string): readonly RunningProcess[] {
  const byPid = new Map(processes.map((one) => [one.pid, one]));
  const above = (one: RunningProcess): readonly RunningProcess[] => {
    const parent = byPid.get(one.parent);
    return parent === undefined || parent === one ? [] : [parent, ...above(parent)];
  };
  const marked = processes.filter(({ value }) => value === mark);
  const engines = marked.filter(({ name }) => name === engineName);
  const used = new Set([...engines, ...engines.flatMap(above)]);
  return marked.filter(
    (one) => !used.has(one) && one.name !== starterName && !above(one).some((other) => engines.includes(other)),
  );
}
