/**
 * The smallest part of a list with which something still fails: leaves out one element after another, and keeps it out if the rest still fails. Calls `fails`
 * at most once per element.
 */
export async function shrink<T>(
  all: readonly T[],
  fails: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let smallest = all;
  for (const one of all) {
    const without = smallest.filter((other) => other !== one);
    if (await fails(without)) smallest = without;
  }
  return smallest;
}
