import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { askToEnd, startBound } from "./children.ts";
import { watchForStall } from "./stall.ts";

/** How a child process ended. */
export interface Ended {
  /** The exit code; 128 + n after signal n, as in a shell. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Why this process ended the child; undefined if it ended by itself. */
  readonly cut?: "timeout" | "stall" | undefined;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The child's input. */
  readonly input?: string;
  /** Ends the child after this many milliseconds. */
  readonly timeout?: number;
  /**
   * Milliseconds that the child has to clean up when it is ended early; ten seconds by default. A child with its own grace period gets the signal only from
   * this process: with Ctrl-C in the terminal it would get two signals, which may have another meaning for it.
   */
  readonly grace?: number;
  /** Ends the child when it neither prints nor reads anything for this many milliseconds. */
  readonly stall?: number;
  /** Ends the child when it is no longer needed. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the child's output as it comes. */
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
}

/** Runs a program and returns its output. Rejects only if the program cannot be started. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return new Promise((done, fail) => {
    const { cwd, env = process.env, input = "", grace } = options;
    const detached = grace !== undefined;
    const { child, release } = startBound(() => spawn(program, args, { cwd, env, stdio: "pipe", detached }), grace);
    child.stdin.on("error", () => undefined); // it may end without reading
    child.stdin.end(input);
    let cut: Ended["cut"];
    const end = (why: Ended["cut"]) => {
      cut = why;
      askToEnd(child, grace);
    };
    // Not spawn's own timeout: its timer keeps this process alive when the program does not exist.
    const timer = options.timeout === undefined ? undefined : setTimeout(() => end("timeout"), options.timeout);
    const watch = options.stall === undefined ? undefined : watchForStall(child, options.stall, () => end("stall"));
    const cancel = () => askToEnd(child, grace);
    options.signal?.addEventListener("abort", cancel);
    if (options.signal?.aborted) cancel();
    const settle = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", cancel);
      watch?.stop();
      release();
    };

    const said = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        said[stream] += text;
        watch?.heard();
        options.onOutput?.(text, stream);
      });
    }
    child.on("exit", () => {
      // Grandchildren may keep the output open; after the child was ended early nobody reads it.
      if (cut !== undefined) for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
    child.on("error", (error) => {
      settle();
      fail(error);
    });
    child.on("close", (code, signal) => {
      const finish = () => {
        settle();
        done({ code: exitCode(code, signal), ...said, cut });
      };
      // Ctrl-C reaches the child and this process at the same time. If the child ends first, its failure is not reported.
      if (code === 0) finish();
      else setTimeout(finish, 20);
    });
  });
}

/** For `onOutput`: passes on what Sluice's own code in the child reports while it works. */
export function passReportsOn(text: string, stream: "stdout" | "stderr"): void {
  if (stream === "stderr" && /^sluice: /.test(text)) process.stderr.write(text);
}

/** Runs a program with this process's terminal and returns its exit code. */
export function runAttached(program: string, args: readonly string[], options: RunOptions = {}): Promise<number> {
  return new Promise((done, fail) => {
    let child: ChildProcess | undefined;
    // On Ctrl-C the child gets the signal from the terminal and ends in its own time, while this process waits. Other signals are passed on.
    const ignore = () => undefined;
    const forward = (signal: NodeJS.Signals) => void child?.kill(signal);
    process.on("SIGINT", ignore).on("SIGTERM", forward).on("SIGHUP", forward);
    const stop = () => void process.off("SIGINT", ignore).off("SIGTERM", forward).off("SIGHUP", forward);
    child = spawn(program, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: "inherit" });
    child.on("error", (error) => {
      stop();
      fail(error);
    });
    child.on("close", (code, signal) => {
      stop();
      done(exitCode(code, signal));
    });
  });
}

function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
