// Runs a program to its end, with an input and a deadline.
import { spawn } from "node:child_process";
import type { Ended } from "../../scripts/base/run.ts";

export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string | undefined;
  /** Milliseconds until it is ended; its exit code is then 143. */
  readonly timeout?: number | undefined;
  /** Called with its output as it comes. */
  readonly onOutput?: ((text: string, stream: "stdout" | "stderr") => void) | undefined;
}

/** Longer than any single call takes on a busy machine. */
const patience = 180_000;

/** Runs it with the given complete environment. Rejects only if it cannot be started. */
export function runChild(program: string, args: readonly string[], options: ChildOptions): Promise<Ended> {
  return new Promise((done, fail) => {
    const { env, cwd, input = "", timeout = patience } = options;
    const child = spawn(program, args, { cwd, env, timeout });
    const said = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        said[stream] += text;
        options.onOutput?.(text, stream);
      });
    }
    child.on("error", fail);
    child.on("exit", () => {
      // A child's own children may keep its output open indefinitely after it was ended.
      if (child.killed) for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
    child.on("close", (code) => done({ code: code ?? 143, ...said }));
    child.stdin.on("error", () => undefined); // it may end without reading
    child.stdin.end(input);
  });
}
