// Tells a person how far a long build is: one line that rewrites itself on a terminal, a line now and then elsewhere.

export interface Screen {
  readonly terminal: boolean;
  readonly columns: number;
  write(text: string): void;
}

/** Standard error: what a command prints on standard output stays clean. */
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
  /** What that is for; it stands last, where a narrow terminal cuts it off. */
  readonly purpose: string;
  readonly index: number;
  readonly of: number;
  /** Seconds that it takes on two idle cores with nothing cached. */
  readonly expected: number;
}

export interface Progress {
  /** Packages done and in all, once known. */
  advance(done: number, total: number): void;
  /** What it does besides compiling, for example "fetching modules". */
  doing(what: string): void;
  /** Seconds since it began. */
  elapsed(): number;
  finish(result: string): void;
}

/** Milliseconds between two lines where there is no terminal. */
const quietInterval = 30_000;

/** Follows one step. `now` is in milliseconds. */
export function startProgress(step: Step, screen: Screen, now: () => number = Date.now): Progress {
  const started = now();
  let phase = "";
  let done = 0;
  let total = 0;
  let compiling: number | undefined;
  let lastLine = started;

  const since = (moment: number) => (now() - moment) / 1000;
  const describe = () => {
    const parts = [`[${step.index}/${step.of}] ${step.what}`];
    if (phase !== "") parts.push(phase);
    if (total > 0) parts.push(`${done} of ${total} packages`);
    parts.push(duration(since(started)));
    const byPackages = compiling === undefined ? undefined : leftByPackages(since(compiling), done, total);
    parts.push(outlook(byPackages ?? step.expected - since(started)));
    return `${parts.join(", ")} (${step.purpose})`;
  };
  const show = (force: boolean) => {
    if (screen.terminal) {
      screen.write(`\r\u001b[2K${describe().slice(0, screen.columns - 1)}`);
    } else if (force || now() - lastLine >= quietInterval) {
      lastLine = now();
      screen.write(`${describe()}\n`);
    }
  };
  const timer = setInterval(() => show(false), 1_000);
  timer.unref();
  show(true);
  return {
    advance(nowDone, nowTotal) {
      compiling ??= now();
      done = nowDone;
      total = nowTotal;
    },
    doing(what) {
      phase = what;
      show(screen.terminal);
    },
    elapsed: () => since(started),
    finish(result) {
      clearInterval(timer);
      const line = `[${step.index}/${step.of}] ${step.what}: ${result} in ${duration(since(started))}\n`;
      screen.write(screen.terminal ? `\r\u001b[2K${line}` : line);
    },
  };
}

/** Seconds left, from the packages compiled so far; undefined while they say too little. */
export function leftByPackages(elapsed: number, done: number, total: number): number | undefined {
  return done >= 20 ? (elapsed * (total - done)) / done : undefined;
}

/** "about 2m05s left"; the last seconds, and a step that takes longer than it should, are "nearly done". */
export function outlook(left: number): string {
  return left > 5 ? `about ${duration(left)} left` : "nearly done";
}

/** "8s", "2m05s", "1h02m". */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const pad = (value: number) => String(value).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${pad(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${pad(Math.floor((whole % 3600) / 60))}m`;
}
