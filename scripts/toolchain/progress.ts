// Tells a person how far a long build is: one line that rewrites itself on a terminal, a line now and then elsewhere.

export interface Screen {
  readonly terminal: boolean;
  readonly columns: number;
  write(text: string): void;
}

export interface Step {
  /** "building pulumi 3.259.0 (the Pulumi CLI and engine)" */
  readonly what: string;
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
  finish(result: string): void;
}

const quietInterval = 30_000;

/** Follows one step. `now` is in milliseconds. */
export function startProgress(step: Step, screen: Screen, now: () => number = Date.now): Progress {
  const started = now();
  let phase = "";
  let done = 0;
  let total = 0;
  let lastLine = started;

  const describe = () => {
    const elapsed = (now() - started) / 1000;
    const packages = total > 0 ? `, ${done} of ${total} packages` : "";
    const doing = phase === "" ? "" : `, ${phase}`;
    return `[${step.index}/${step.of}] ${step.what}${doing}${packages}, ${duration(elapsed)}, ${outlook(elapsed, done, total, step.expected)}`;
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
      done = nowDone;
      total = nowTotal;
    },
    doing(what) {
      phase = what;
      show(screen.terminal);
    },
    finish(result) {
      clearInterval(timer);
      const line = `[${step.index}/${step.of}] ${step.what}: ${result} in ${duration((now() - started) / 1000)}\n`;
      screen.write(screen.terminal ? `\r\u001b[2K${line}` : line);
    },
  };
}

/** What is left, from the packages done where that says something, from the figure measured before otherwise. */
export function outlook(elapsed: number, done: number, total: number, expected: number): string {
  const byPackages = total > 0 && done >= 20 ? (elapsed * (total - done)) / done : undefined;
  const left = byPackages ?? expected - elapsed;
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
