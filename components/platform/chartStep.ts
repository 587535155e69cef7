/** What a change from one version of a chart to another is. */
export interface ChartStep {
  /** The minor versions, such as `1.18`. */
  readonly from: string;
  readonly to: string;
  /** If it is more than one minor version, up or down: the first on the way. */
  readonly first?: string;
}

/** Versions are full ones. Another major version is not judged. */
export function chartStep(before: string, after: string): ChartStep {
  const [was, is] = [numbers(before), numbers(after)];
  const step = { from: text(was), to: text(is) };
  const minors = is.minor - was.minor;
  if (was.major !== is.major || Math.abs(minors) <= 1) return step;
  return { ...step, first: text({ ...was, minor: was.minor + Math.sign(minors) }) };
}

interface Numbers {
  readonly major: number;
  readonly minor: number;
}

function numbers(version: string): Numbers {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return { major, minor };
}

function text({ major, minor }: Numbers): string {
  return `${major}.${minor}`;
}
