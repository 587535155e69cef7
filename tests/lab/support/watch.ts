// A program that runs until it is stopped, and waits for its output.
import { type ChildProcess, spawn } from "node:child_process";

/** Longer than anything takes with the profile `fast` on a busy machine. */
const patience = 60_000;

export class Watch {
  private readonly child: ChildProcess;
  private readonly closed: Promise<void>;
  private text = "";
  private heard: () => void = () => undefined;
  private over = false;

  constructor(
    program: string,
    args: readonly string[],
    options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  ) {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.text += text;
        this.heard();
      });
    }
    this.closed = new Promise((done, fail) => {
      child.on("error", fail);
      child.on("close", () => {
        this.over = true;
        this.heard();
        done();
      });
    });
    this.child = child;
  }

  /** Resolves once its output matches, with the match. */
  says(pattern: RegExp, milliseconds = patience): Promise<RegExpExecArray> {
    return new Promise((done, fail) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.heard = () => undefined;
        settle();
      };
      const timer = setTimeout(
        () => end(() => fail(new Error(`waited ${milliseconds / 1000} s in vain for ${pattern} in:\n${this.text}`))),
        milliseconds,
      );
      this.heard = () => {
        const match = pattern.exec(this.text);
        if (match !== null) end(() => done(match));
        else if (this.over) end(() => fail(new Error(`it ended without ${pattern}:\n${this.text}`)));
      };
      this.heard();
    });
  }

  /** Its output, once it has ended by itself. */
  async ends(): Promise<string> {
    await this.closed;
    return this.text;
  }

  /** Ends it and returns its output. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<string> {
    if (!this.over) this.child.kill(signal);
    await this.closed;
    return this.text;
  }
}
