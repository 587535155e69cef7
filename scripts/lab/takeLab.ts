/** What a person types to put an environment on a lab, apart from the rest: `--lab`, `--lab <name>` or `--lab=<name>`. */
export interface TakenLab {
  /** "" where no name is given; undefined where no lab is asked for. */
  readonly lab: string | undefined;
  readonly rest: readonly string[];
}

/** The engine has no option of that name. */
export function takeLab(args: readonly string[]): TakenLab {
  const at = args.findIndex((arg) => arg === "--lab" || arg.startsWith("--lab="));
  const option = args[at];
  if (option === undefined) return { lab: undefined, rest: args };
  if (option !== "--lab") return { lab: option.slice("--lab=".length), rest: args.toSpliced(at, 1) };
  const next = args[at + 1];
  // Before the environment's name stands no other: `--lab home` is that one.
  const hasName = at > 0 && next !== undefined && !next.startsWith("-");
  return { lab: hasName ? next : "", rest: args.toSpliced(at, hasName ? 2 : 1) };
}
