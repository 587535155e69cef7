import { systemClock } from "../gates/clock.ts";
import { engineRow, Progress } from "../gates/progress.ts";
import { engineLog } from "./engineLog.ts";
import { realAccess, type World } from "./nodeAccess.ts";

/** The world of a resource that the engine runs, and what is said of it for good. */
export interface Surroundings extends World {
  readonly note: (text: string, severity: "info" | "warning") => Promise<void>;
}

/** Does something for a resource, with progress in its own row, and says there in the end what came of it. */
export async function inEngine<T>(
  row: string,
  work: (world: Surroundings) => Promise<T>,
  outcome?: (result: T) => string,
): Promise<T> {
  const engine = engineRow(row);
  const progress = new Progress(engine.send, systemClock);
  try {
    const result = await work({
      access: realAccess,
      clock: systemClock,
      chance: Math.random,
      report: (text) => progress.show(text),
      note: (text, severity) => engineLog(row, text, severity),
    });
    progress.end();
    if (outcome !== undefined) await engine.send(outcome(result));
    return result;
  } finally {
    progress.end();
    engine.close();
  }
}
