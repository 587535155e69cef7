import { systemClock } from "../gates/clock.ts";
import { interruption, unlessInterrupted } from "../gates/interruption.ts";
import { engineRow, Progress } from "../gates/progress.ts";
import { traced } from "../trace/trace.ts";
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
  let doing = "has not begun";
  try {
    const world: Surroundings = {
      access: realAccess,
      clock: systemClock,
      chance: Math.random,
      report(text) {
        doing = text;
        progress.show(text);
      },
      note: engine.note,
      interrupted: interruption,
    };
    const inThisWorld = () =>
      unlessInterrupted(
        () => work(world),
        () => doing,
      );
    if (outcome === undefined) return await inThisWorld();
    const result = await traced(row, systemClock, inThisWorld);
    progress.end();
    await engine.send(outcome(result));
    return result;
  } finally {
    progress.end();
    engine.close();
  }
}
