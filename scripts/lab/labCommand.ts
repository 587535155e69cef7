// The arguments of `npm run lab --`.
import { labName, labNameForm } from "../../stacks/base/labName.ts";
import { Failure } from "../base/fail.ts";

/** A call of the lab's own program. */
export interface LabCall {
  /** The lab, one of this checkout. */
  readonly name: string;
  readonly command: string;
  /** What is passed to the program unchanged. */
  readonly args: readonly string[];
}

/** The lab's name by default. */
export const defaultLab = "default";

/** The commands, each with its purpose. */
export const commands: Readonly<Record<string, string>> = {
  up: "start a lab and return when it is ready",
  run: "start a lab and keep it until Ctrl-C",
  status: "print what the lab contains, as JSON",
  timeline: "print what became true and when; --follow keeps printing, --json is for programs",
  kubeconfig: "print a kubeconfig of the first cluster for programs outside",
  exec: "run a program inside, where the lab's addresses are reachable",
  shell: "run your shell inside",
  fault: "inject a fault: add, list, remove",
  machine: "manage existing (non-cloud) machines: add, on, off, replace",
  down: "end a lab with everything in it",
};

const list = `Commands: ${Object.keys(commands).join(", ")}.`;

/** Parses a call; undefined if help is requested. The lab's name is read here, the rest is passed on. */
export function readCall(args: readonly string[]): LabCall | undefined {
  const passed: string[] = [];
  let name = defaultLab;
  let command: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (command === "exec" && (arg === "--" || !arg.startsWith("-"))) {
      // The rest belongs to the program.
      passed.push("--", ...args.slice(arg === "--" ? index + 1 : index));
      break;
    }
    if (command === undefined && (arg === "--help" || arg === "-h")) return undefined;
    // A fault has a name too: after `fault add`, --name means that.
    const isOurs = !(command === "fault" && passed[0] === "add");
    if (isOurs && arg === "--name") name = args[++index] ?? "";
    else if (isOurs && arg.startsWith("--name=")) name = arg.slice("--name=".length);
    else if (command === undefined && !arg.startsWith("-")) command = arg;
    else passed.push(arg);
  }
  if (command === undefined && passed.length === 0) return undefined;
  if (command === undefined) throw new Failure(`missing command before '${passed.join(" ")}'. ${list}`);
  if (!(command in commands)) {
    throw new Failure(`the lab has no command '${command}'. ${list}`);
  }
  if (!labName.test(name)) throw new Failure(`'${name}' is no valid lab name: it must be ${labNameForm}.`);
  return { name, command, args: passed };
}

/** The command as the user types it. */
export function labCommand(name: string, ...command: readonly string[]): string {
  return ["npm run lab --", ...(name === defaultLab ? [] : ["--name", name]), ...command].join(" ");
}
