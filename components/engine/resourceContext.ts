import { type Clock, systemClock } from "../waiting/clock.ts";
import { interruption, unlessInterrupted } from "./interruption.ts";
import { engineRow, Progress } from "./progress.ts";
import { type TracedWait, traced } from "./trace.ts";

/** What a resource's provider uses from its environment; tests replace it. */
export interface ResourceContext {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Shows progress in the resource's own row; may be called often. */
  readonly report: (text: string) => void;
  /** Adds a diagnostic that remains after the run, or shows a text in the resource's own row. */
  readonly note: (text: string, as: "info" | "warning" | "row") => Promise<void>;
  /** Aborted on Ctrl-C: nothing new may be started after that. */
  readonly interrupted?: AbortSignal;
  /** Records a wait in the trace of the run. */
  readonly onWait?: (wait: TracedWait) => void;
}

export interface WorkOptions<T> {
  /** The name in the trace of the run. */
  readonly isTraced?: boolean;
  /** The text that the resource's row shows at the end. */
  readonly outcome?: ((result: T) => string) | undefined;
  /** Whether the work ends by itself on an interruption; otherwise only the wait for it ends. */
  readonly endsWhenInterrupted?: boolean | undefined;
}

/** Does the work of a resource, shows its progress in its own row, and finally its outcome. */
export async function inEngine<T>(
  row: string,
  work: (context: ResourceContext) => Promise<T>,
  { isTraced = false, outcome, endsWhenInterrupted = false }: WorkOptions<T> = {},
): Promise<T> {
  const engine = engineRow(row);
  const progress = new Progress(engine.send, systemClock);
  let doing = "has not started";
  const context: ResourceContext = {
    clock: systemClock,
    random: Math.random,
    report(text) {
      doing = text;
      progress.show(text);
    },
    note: (text, as) => (as === "row" ? engine.send(text) : engine.note(text, as)),
    interrupted: interruption,
  };
  const interruptible = (onWait?: (wait: TracedWait) => void) => {
    const begun = () => work({ ...context, ...(onWait && { onWait }) });
    return endsWhenInterrupted ? begun() : unlessInterrupted(begun, () => doing);
  };
  try {
    const result = isTraced ? await traced(row, systemClock, interruptible) : await interruptible();
    progress.end();
    if (outcome !== undefined) await engine.send(outcome(result));
    return result;
  } finally {
    progress.end();
    engine.close();
  }
}
