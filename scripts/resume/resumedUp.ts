// `up` of an environment, which resumes by itself.
import { readFile } from "node:fs/promises";
import { type Clock, systemClock } from "../../components/waiting/clock.ts";
import { settingsFile } from "../base/environments.ts";
import { EventLog } from "../base/eventLog.ts";
import { runningLab } from "../lab/labProcess.ts";
import { ownTerminal } from "../live/reservedLines.ts";
import { hasTable, watchRun } from "../live/watchRun.ts";
import type { Stack } from "../stack/stack.ts";
import { type DatedLine, followLog } from "./followLog.ts";
import { type Resumed, runResuming } from "./resume.ts";
import { resumeChoice } from "./resumeOptions.ts";
import { isUpdate } from "./runEvents.ts";

export interface UpCalls {
  /** Runs the engine in the terminal, and returns its exit code. */
  readonly engine: (options: readonly string[], variables: NodeJS.ProcessEnv) => Promise<number>;
  /** Cleans up after each failed run, for the next. */
  readonly settle: () => Promise<void>;
  /** Prepares another run, after one with this event log. */
  readonly prepare: (log: string) => Promise<void>;
  readonly clock?: Clock;
}

/** One run of the engine. Moments are milliseconds since 1970. */
export interface Attempt {
  readonly began: number;
  readonly ended: number;
  /** Of its event log. */
  readonly lines: readonly DatedLine[];
}

/** How it ended, and what is left to say about that. */
export interface EndedUp extends Resumed {
  readonly attempts: readonly Attempt[];
  /** Whether the engine got as far as an update: it was not refused, locked out or declined before. */
  readonly hasRun: boolean;
  readonly advice?: string | undefined;
  /** Milliseconds that its user took to answer. */
  readonly askedMs: number;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function resumedUp(
  stack: Stack,
  given: readonly string[],
  { engine, settle, prepare, clock = systemClock }: UpCalls,
): Promise<EndedUp> {
  const choice = resumeChoice(given);
  const file = await settingsFile(stack.name);
  const before = await readFile(file, "utf8");
  const attempts: Attempt[] = [];
  let askedMs = 0;
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  let hasRun = false;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const ended = await runResuming({
      off: choice.off && `${choice.off} excludes it`,
      isAsked: choice.isAsked,
      run: async ({ isConfirmed }) => {
        const options = isConfirmed ? choice.confirmed : choice.options;
        const log = new EventLog();
        const [began, linesOf] = [Date.now(), followLog(log)];
        // Only with this variable does the engine have the option.
        const start = () => engine(["--event-log", log.path, ...options], { PULUMI_DEBUG_COMMANDS: "true" });
        const terminal = hasTable(options) ? ownTerminal() : undefined;
        const { result: code, askedMs: asked } = await watchRun(log, start, terminal);
        askedMs += asked;
        const lines = linesOf();
        log.close();
        attempts.push({ began, ended: Date.now(), lines });
        const events = lines.map(({ text }) => text).join("\n");
        hasRun ||= code === 0 || isUpdate(events);
        return { code, log: events };
      },
      settle,
      prepare,
      obstacle: async () => {
        if ((await readFile(file, "utf8")) !== before)
          return `Pulumi.${stack.name}.yaml has changed since this run started`;
        const lab = stack.lab?.lab;
        return lab !== undefined && (await runningLab(lab)) === undefined ? `the lab '${lab}' has ended` : undefined;
      },
      clock,
      interrupted: interrupted.signal,
      print: (line) => console.error(`sluice: ${line}`),
    });
    return { ...ended, attempts, hasRun, askedMs, advice: advice(stack, ended) };
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

/** The message after a failed run. */
function advice({ name }: Stack, { gaveUp, hasFailed }: Resumed): string | undefined {
  if (!hasFailed) return undefined;
  const type = `'npm run up -- ${name}' resumes; completed steps are not repeated`;
  return gaveUp === undefined ? type : `not resumed: ${gaveUp}. ${type}`;
}
