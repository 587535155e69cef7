/** Options of the engine that take no value: what follows one of them is an argument. */
const withoutValue = new Set(
  "--yes -y --skip-preview -f --diff --json -j --refresh -r --suppress-outputs --expect-no-changes --show-sames --no-resume".split(
    " ",
  ),
);

/** The first argument after the environment that is neither an option nor the value of one: the engine would answer it with the whole of its help. */
export function surplusArgument(options: readonly string[]): string | undefined {
  return options.find((option, place) => {
    const before = options[place - 1];
    const isFree = before === undefined || !before.startsWith("-") || before.includes("=") || withoutValue.has(before);
    return !option.startsWith("-") && isFree;
  });
}
