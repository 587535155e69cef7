// Shows the progress of a long build: one line that rewrites itself on a terminal, a line every few seconds elsewhere.
import { duration } from "../base/duration.ts";
import { quietIntervalMs } from "../base/reporting.ts";

export interface Screen {
  readonly terminal: boolean;
  readonly columns: number;
  write(text: string): void;
}

/** Standard error, so that standard output contains only the command's own output. */
export const standardError: Screen = {
  get terminal() {
    return process.stderr.isTTY === true;
  },
  get columns() {
    return process.stderr.columns || 80;
  },
  write(text) {
    process.stderr.write(text);
  },
};

export interface Step {
  /** "building pulumi 3.259.0" */
  readonly what: string;
  /** Its purpose, at the end of the line, where a narrow terminal cuts it off. */
  readonly purpose: string;
  /** Seconds that it takes on two idle cores with empty caches. */
  readonly expected: number;
}

export interface StepProgress {
  begin(): void;
  /** Compiled packages and their total, once known. */
  advance(done: number, total: number): void;
  /** What it does besides compiling, such as "fetching modules". */
  doing(what: string): void;
  /** Seconds since it started. */
  elapsed(): number;
  finish(result: string): void;
}

export interface Progress {
  readonly steps: readonly StepProgress[];
  /** Removes steps that turned out to be unnecessary. */
  drop(steps: readonly StepProgress[]): void;
  /** Prints lines without garbling the progress line. */
  print(text: string): void;
  stop(): void;
}

const terminalIntervalMs = 1_000;

/** Seconds of building after which the measured speed counts as much as the expected one. */
const paceSeconds = 30;

/** Tracks steps, two of which may overlap: the line shows the one that started last. `now` is in milliseconds. */
export function startProgress(steps: readonly Step[], screen: Screen, now: () => number = Date.now): Progress {
  const all = steps.map((step) => new RunningStep(step, now));
  let wanted: readonly RunningStep[] = all;
  let begun = 0;
  let isLineShown = false;

  const print = (text: string) => {
    screen.write(isLineShown ? `\r\u001b[2K${text}` : text);
    isLineShown = false;
  };
  const head = (step: RunningStep) => `[${step.place}/${wanted.length}] ${step.what}`;
  const show = () => {
    const current = wanted.filter(({ isRunning }) => isRunning).toSorted((a, b) => b.place - a.place)[0];
    if (current === undefined) return;
    const line = `${head(current)}, ${[...current.facts(), outlook(leftInAll(wanted))].join(", ")} (${current.purpose})`;
    print(screen.terminal ? line.slice(0, screen.columns - 1) : `${line}\n`);
    isLineShown = screen.terminal;
  };
  const timer = setInterval(show, screen.terminal ? terminalIntervalMs : quietIntervalMs);
  timer.unref();

  const handles = all.map(
    (step): StepProgress => ({
      begin() {
        begun += 1;
        step.begin(begun);
        show();
      },
      advance: (done, total) => step.advance(done, total),
      doing(what) {
        step.phase = what;
        if (screen.terminal) show();
      },
      elapsed: () => step.elapsed(),
      finish(result) {
        step.end();
        print(`${head(step)}: ${result} in ${duration(step.elapsed())}\n`);
      },
    }),
  );
  return {
    steps: handles,
    drop(unneeded) {
      wanted = all.filter((_, place) => !unneeded.includes(handles[place] as StepProgress));
    },
    print,
    stop() {
      clearInterval(timer);
      if (isLineShown) print("");
    },
  };
}

class RunningStep {
  readonly what: string;
  readonly purpose: string;
  readonly expected: number;
  phase = "";
  /** Its position when it started; 0 before. */
  place = 0;
  private readonly now: () => number;
  private began: number | undefined;
  private compiling: number | undefined;
  private ended: number | undefined;
  private done = 0;
  private total = 0;

  constructor({ what, purpose, expected }: Step, now: () => number) {
    this.what = what;
    this.purpose = purpose;
    this.expected = expected;
    this.now = now;
  }

  begin(place: number): void {
    this.place = place;
    this.began = this.now();
  }

  advance(done: number, total: number): void {
    this.compiling ??= this.now();
    this.done = done;
    this.total = total;
  }

  end(): void {
    this.ended = this.now();
  }

  get isRunning(): boolean {
    return this.began !== undefined && this.ended === undefined;
  }

  get isFinished(): boolean {
    return this.ended !== undefined;
  }

  /** Seconds since it started, or that it took. */
  elapsed(): number {
    return this.began === undefined ? 0 : ((this.ended ?? this.now()) - this.began) / 1000;
  }

  facts(): string[] {
    const packages = this.total > 0 ? [`${this.done} of ${this.total} packages`] : [];
    return [...(this.phase === "" ? [] : [this.phase]), ...packages, duration(this.elapsed())];
  }

  /** Seconds left, if a step takes `pace` times its expected time. */
  left(pace: number): number {
    if (this.isFinished) return 0;
    const compiling = this.compiling === undefined ? 0 : (this.now() - this.compiling) / 1000;
    return leftByPackages(compiling, this.done, this.total) ?? Math.max(0, this.expected * pace - this.elapsed());
  }
}

/** Seconds left for all steps; the finished ones show how fast this machine is. */
function leftInAll(steps: readonly RunningStep[]): number {
  const finished = steps.filter(({ isFinished }) => isFinished);
  const took = finished.reduce((sum, step) => sum + step.elapsed(), paceSeconds);
  const expected = finished.reduce((sum, step) => sum + step.expected, paceSeconds);
  return steps.reduce((sum, step) => sum + step.left(took / expected), 0);
}

/** Seconds left, from the packages compiled so far; undefined while there are too few. */
export function leftByPackages(elapsed: number, done: number, total: number): number | undefined {
  return done >= 20 ? (elapsed * (total - done)) / done : undefined;
}

/** "about 2m05s left"; in the last seconds, and if it takes longer than expected, "nearly done". */
export function outlook(left: number): string {
  return left > 5 ? `about ${duration(left)} left` : "nearly done";
}
