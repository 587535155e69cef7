// The arguments of `npm test --`.
import { Failure } from "../../base/fail.ts";
import { type Part, parts, wholeCheck } from "./parts.ts";
import { takesOptions } from "./runParts.ts";

export interface TestCall {
  readonly wanted: readonly Part[];
  /** Options for the test runner of the only part. */
  readonly options: readonly string[];
}

/** The parts are named first; everything after them is for the test runner. */
export function readTestCall(args: readonly string[]): TestCall {
  const named = (arg: string | undefined) => parts.find(({ name }) => name === arg);
  const firstOption = args.findIndex((arg) => named(arg) === undefined);
  const end = firstOption < 0 ? args.length : firstOption;
  const wanted = args.slice(0, end).flatMap((arg) => named(arg) ?? []);
  const options = args.slice(end);
  if (options.length === 0) {
    return { wanted: wanted.length > 0 ? wanted : wholeCheck, options };
  }
  const [part, ...others] = wanted;
  if (part === undefined) throw new Failure(`the check has no part '${options[0]}'. See npm test -- --help.`);
  if (others.length > 0 || !takesOptions(part)) {
    const reason = others.length > 0 ? "options are for a single part" : `${part.name} takes no options`;
    throw new Failure(`unexpected '${options.join(" ")}': ${reason}. See npm test -- --help.`);
  }
  return { wanted, options };
}
