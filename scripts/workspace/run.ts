import { spawn } from "node:child_process";
import { constants } from "node:os";

/** How a child process ended. */
export interface Ended {
  /** The exit code; 128 + n after signal n, as a shell has it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the child after this many milliseconds. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Sees standard output and error as they come. */
  readonly onOutput?: (text: string) => void;
}

/** Runs a program to its end and keeps what it said. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
      // Not spawn's own timeout: its timer keeps this process alive when the program does not exist.
      signal: AbortSignal.any([
        ...(options.signal === undefined ? [] : [options.signal]),
        ...(options.timeout === undefined ? [] : [AbortSignal.timeout(options.timeout)]),
      ]),
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      options.onOutput?.(text);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      options.onOutput?.(text);
    });
    child.on("error", fail);
    child.on("close", (code, signal) => done({ code: exitCode(code, signal), stdout, stderr }));
  });
}

/** Runs a program with this process's terminal and returns its exit code. */
export function runAttached(program: string, args: readonly string[], options: RunOptions = {}): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: "inherit" });
    // Ctrl-C reaches the child from the terminal: it ends in its own time, this process waits.
    const ignore = () => undefined;
    const forward = () => child.kill("SIGTERM");
    process.on("SIGINT", ignore);
    process.on("SIGTERM", forward);
    child.on("error", fail);
    child.on("close", (code, signal) => {
      process.off("SIGINT", ignore);
      process.off("SIGTERM", forward);
      done(exitCode(code, signal));
    });
  });
}

function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
