// Which options of an `up` exclude or change resuming it.

/** Sluice's own option; the engine has none with this name. */
export const noResume = "--no-resume";

/** With these another run would not do the same: it would replace the same resource again, apply an outdated plan, or print a second document. */
const excluded = ["--replace", "--target-replace", "--plan", "--json", "-j"];

/** These request a refresh, whose findings nobody has seen. */
const refreshing = ["--refresh", "-r"];

export interface ResumeChoice {
  /** The option that turns resuming off, if there is one. */
  readonly off: string | undefined;
  /** Whether the engine asks the user before it changes anything. */
  readonly isAsked: boolean;
  /** The engine's options. */
  readonly options: readonly string[];
  /** The engine's options in another run, after the user agreed to the first. */
  readonly confirmed: readonly string[];
}

export function resumeChoice(given: readonly string[]): ResumeChoice {
  const options = given.filter((option) => option !== noResume);
  const named = (names: readonly string[]) =>
    names.find((name) => options.some((option) => option === name || option.startsWith(`${name}=`)));
  const isAsked = !options.some((option) => option === "--yes" || /^-[a-z]*y[a-z]*$/.test(option));
  const off = options.length < given.length ? noResume : (named(excluded) ?? (isAsked ? named(refreshing) : undefined));
  return { off, isAsked, options, confirmed: isAsked ? [...options, "--yes", "--skip-preview"] : options };
}
