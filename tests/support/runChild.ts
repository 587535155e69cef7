// A program that is run to its end, with an input and a deadline.
import { spawn } from "node:child_process";
import type { Ended } from "../../scripts/workspace/run.ts";

export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string | undefined;
  /** Milliseconds until it is ended; its exit code is then 143. */
  readonly timeout?: number | undefined;
}

/** Longer than any single call takes on a busy machine. */
const patience = 180_000;

/** Runs it in an environment that is given as a whole. Rejects only when it cannot be started. */
export function runChild(program: string, args: readonly string[], options: ChildOptions): Promise<Ended> {
  return new Promise((done, fail) => {
    const { env, cwd, input = "", timeout = patience } = options;
    const child = spawn(program, args, { cwd, env, timeout });
    const said = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        said[stream] += text;
      });
    }
    child.on("error", fail);
    child.on("exit", () => {
      // What a child that was cut off has started may hold its output open for ever.
      if (child.killed) for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
    child.on("close", (code) => done({ code: code ?? 143, ...said }));
    child.stdin.on("error", () => undefined); // it may end without reading
    child.stdin.end(input);
  });
}
