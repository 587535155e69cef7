// What `npm run doctor` finds of this machine, in lines of its report.
import { cut } from "../base/table.ts";

export interface Check {
  readonly name: string;
  /** "missing" ends the command with a failure; "note" is what only some commands need. */
  readonly state: "ok" | "note" | "missing";
  readonly found: string;
  /** Where it is not ok. */
  readonly whatToDo?: string;
}

const widthOfTerminal = 80;
const nameWidth = 12;
const marks = { ok: "ok  ", note: "note", missing: "MISS" } as const;

/** A line for each, and below it what to do. */
export function checkLines(checks: readonly Check[]): readonly string[] {
  return checks.flatMap(({ name, state, found, whatToDo }) => [
    cut(`${marks[state]}  ${name.padEnd(nameWidth)}${found}`, widthOfTerminal),
    ...(whatToDo === undefined ? [] : whatToDo.split("\n").map((line) => `      ${"".padEnd(nameWidth)}${line}`)),
  ]);
}

/** By the names of variables alone: what is in them is secret. */
export function variableChecks(
  variables: Readonly<Record<string, string | undefined>>,
  known: readonly NamedVariable[],
): readonly Check[] {
  return known.map(({ name, use }) =>
    variables[name]
      ? { name: "variable", state: "ok", found: `${name} is set: ${use}` }
      : { name: "variable", state: "note", found: `${name} is not set: ${use}` },
  );
}

export interface NamedVariable {
  readonly name: string;
  readonly use: string;
}

/** A clock that is wrong breaks TLS: certificates are not valid yet, or no longer. */
export function clockCheck(now: Date, notBefore: Date, isSynchronized: boolean | undefined): Check {
  const found = now.toISOString().replace(/\.\d+Z$/, "Z");
  const whatToDo = "set the clock, best by a time service: certificates are valid for a time only";
  if (now < notBefore)
    return { name: "clock", state: "missing", found: `${found}, before files of this checkout`, whatToDo };
  if (isSynchronized === false) return { name: "clock", state: "note", found: `${found}, not synchronized`, whatToDo };
  return { name: "clock", state: "ok", found };
}
