// Decides whether a node can change from one Talos version to another in one step.
import { minorOf } from "./versions.ts";

/**
 * The minor versions of the running Talos from which an installer of a minor version accepts to run: the first, and the one below which it must be.
 * Source: MinimumHostUpgradeVersion and MaximumHostDowngradeVersion in siderolabs/talos pkg/machinery/compatibility/talos1<minor> (v1.14.1).
 */
const hosts: Readonly<Record<number, readonly [first: number, below: number]>> = {
  11: [9, 13],
  12: [10, 14],
  13: [11, 15],
  14: [12, 16],
};

/** A step that is refused. */
export interface UnsupportedTalosStep {
  readonly seen: string;
  /** What to do instead. */
  readonly remedy: string;
}

/**
 * Undefined if the step is supported: at most one minor version, in either direction, because Talos tests no others, and within what the installer accepts.
 * Patch releases may change either way.
 */
export function unsupportedTalosStep(from: string, to: string): UnsupportedTalosStep | undefined {
  const [was, is] = [minorOf(from), minorOf(to)];
  // A version that is none is refused elsewhere.
  if (was === undefined || is === undefined) return undefined;
  const [first, below] = hosts[is] ?? [is - 1, is + 2];
  const isStep = Math.abs(is - was) <= 1;
  if (isStep && was >= first && was < below) return undefined;
  const seen = `it runs Talos ${from}, and would get ${to}`;
  return { seen: isStep ? `${seen}, whose installer refuses to run there` : seen, remedy: remedy(was, is, to) };
}

function remedy(was: number, is: number, to: string): string {
  const next = `1.${is > was ? was + 1 : was - 1}`;
  return `Go there one minor version at a time: set talosVersion to a release of ${next}, run \`npm run up -- <environment>\`, and so on until ${to}. If the nodes run it already, run \`npm run refresh -- <environment>\` first.`;
}
