// What a person types after `npm run lab --`.
import { Failure } from "../workspace/fail.ts";

/** A call of the lab's own program. */
export interface LabCall {
  /** Which of the labs of this checkout. */
  readonly name: string;
  readonly command: string;
  /** What goes on to the program as it is. */
  readonly args: readonly string[];
}

/** The commands, each with what it is for. */
export const commands: Readonly<Record<string, string>> = {
  up: "start a lab and return when it is ready",
  run: "start one and keep it until Ctrl-C",
  status: "what is there, as JSON",
  timeline: "what became true and when; --follow goes on, --json for programs",
  kubeconfig: "print the way to the first cluster for programs outside",
  exec: "run a program inside, where the lab's addresses answer",
  shell: "the same with your shell",
  fault: "let something go wrong: add, list, remove",
  down: "end a lab with all that is in it",
};

/** Reads a call; undefined where it is no command's. The name of the lab is ours, the rest is passed on. */
export function readCall(args: readonly string[]): LabCall | undefined {
  const passed: string[] = [];
  let name = "default";
  let command: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (command === "exec" && (arg === "--" || !arg.startsWith("-"))) {
      // From here on it is the program's.
      passed.push("--", ...args.slice(arg === "--" ? index + 1 : index));
      break;
    }
    if (command === undefined && (arg === "--help" || arg === "-h")) return undefined;
    if (arg === "--name") name = args[++index] ?? "";
    else if (arg.startsWith("--name=")) name = arg.slice("--name=".length);
    else if (command === undefined && !arg.startsWith("-")) command = arg;
    else passed.push(arg);
  }
  if (command === undefined) return undefined;
  if (!(command in commands)) {
    throw new Failure(`the lab has no command '${command}'. There are: ${Object.keys(commands).join(", ")}.`);
  }
  // It becomes the name of a folder, and of a socket, whose path may not be long.
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) {
    throw new Failure(`'${name}' is no name for a lab: it takes 1 to 32 of a-z, 0-9 and -, and begins with none of -.`);
  }
  return { name, command, args: passed };
}
