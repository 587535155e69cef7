// What a person types after `npm run lab --`.
import { labName, labNameForm } from "../../stacks/labName.ts";
import { Failure } from "../workspace/fail.ts";

/** A call of the lab's own program. */
export interface LabCall {
  /** Which of the labs of this checkout. */
  readonly name: string;
  readonly command: string;
  /** What goes on to the program as it is. */
  readonly args: readonly string[];
}

/** The lab that is meant where none is named. */
export const defaultLab = "default";

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
  machine: "lay a hand on machines that no cloud has: add, on, off, replace",
  down: "end a lab with all that is in it",
};

const thereAre = `There are: ${Object.keys(commands).join(", ")}.`;

/** Reads a call; undefined where it is no command's. The name of the lab is ours, the rest is passed on. */
export function readCall(args: readonly string[]): LabCall | undefined {
  const passed: string[] = [];
  let name = defaultLab;
  let command: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (command === "exec" && (arg === "--" || !arg.startsWith("-"))) {
      // From here on it is the program's.
      passed.push("--", ...args.slice(arg === "--" ? index + 1 : index));
      break;
    }
    if (command === undefined && (arg === "--help" || arg === "-h")) return undefined;
    // A fault has a name too: behind `fault add` it is that.
    const isOurs = !(command === "fault" && passed[0] === "add");
    if (isOurs && arg === "--name") name = args[++index] ?? "";
    else if (isOurs && arg.startsWith("--name=")) name = arg.slice("--name=".length);
    else if (command === undefined && !arg.startsWith("-")) command = arg;
    else passed.push(arg);
  }
  if (command === undefined && passed.length === 0) return undefined;
  if (command === undefined) throw new Failure(`what with ${passed.join(" ")}? ${thereAre}`);
  if (!(command in commands)) {
    throw new Failure(`the lab has no command '${command}'. ${thereAre}`);
  }
  if (!labName.test(name)) throw new Failure(`'${name}' is no name for a lab: it must be ${labNameForm}.`);
  return { name, command, args: passed };
}

/** What a person types for it. */
export function labCommand(name: string, ...command: readonly string[]): string {
  return ["npm run lab --", ...(name === defaultLab ? [] : ["--name", name]), ...command].join(" ");
}
