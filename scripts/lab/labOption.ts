/** Separates the option that puts an environment on a lab from the other arguments: `--lab`, `--lab <name>` or `--lab=<name>`. */
export interface TakenLab {
  /** "" if no name is given; undefined if no lab is requested. */
  readonly lab: string | undefined;
  readonly rest: readonly string[];
}

/** The engine has no option with this name. */
export function takeLab(args: readonly string[]): TakenLab {
  const at = args.findIndex((arg) => arg === "--lab" || arg.startsWith("--lab="));
  const option = args[at];
  if (option === undefined) return { lab: undefined, rest: args };
  if (option !== "--lab") return { lab: option.slice("--lab=".length), rest: args.toSpliced(at, 1) };
  const next = args[at + 1];
  // Before the environment's name there is no other name: `--lab home` names the environment.
  const hasName = at > 0 && next !== undefined && !next.startsWith("-");
  return { lab: hasName ? next : "", rest: args.toSpliced(at, hasName ? 2 : 1) };
}
