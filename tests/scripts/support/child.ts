// Programs under test, run like a user's, and observed from outside.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { jest } from "@jest/globals";

// Much longer than needed: on a busy machine everything takes time.
const patience = 30_000;
jest.setTimeout(2 * patience);

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Child {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Resolves once a condition is met; fails if the program ends before. */
  reaches(holds: () => boolean, what: string): Promise<void>;
  /** Resolves once the program has printed the text. */
  said(text: string): Promise<void>;
  /** Resolves once the program has printed a match, with its first group. */
  says(pattern: RegExp): Promise<string>;
  /** Sends a signal to the program alone. */
  kill(signal: NodeJS.Signals): void;
  /** Sends a signal to the program and its children, like a terminal. */
  killGroup(signal: NodeJS.Signals): void;
}

/** Starts a program in its own process group. */
export function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string): Child {
  const child = spawn(program, args, { env, cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} cannot be started`);
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      said[stream] += text;
    });
  }
  let over = false;
  const ended = new Promise<Ended>((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => {
      over = true;
      done({ code, signal, ...said });
    });
  });
  const reaches = (holds: () => boolean, what: string) =>
    until(() => {
      if (holds()) return true;
      if (over) throw new Error(`${program} ended without ${what}: ${said.stderr}`);
      return false;
    }, what);
  return {
    pid,
    ended,
    reaches,
    async says(pattern) {
      const match = () => pattern.exec(`${said.stdout}${said.stderr}`)?.[1];
      await reaches(() => match() !== undefined, `${pattern}`);
      return match() ?? "";
    },
    said: (text) => reaches(() => `${said.stdout}${said.stderr}`.includes(text), `'${text}'`),
    kill: (signal) => void process.kill(pid, signal),
    killGroup: (signal) => void process.kill(-pid, signal),
  };
}

/** Waits until a condition is met. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + patience; !holds(); await sleep(10)) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
  }
}

/** Whether a process runs; a zombie does not. */
export function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}
