// Runs parts of the check, one after the other; neighbours that mostly wait share one run.
import { Failure } from "../../base/fail.ts";
import type { Counts } from "./counts.ts";
import type { Part } from "./parts.ts";
import { runSuites } from "./suites.ts";

/** Parts that run together. */
export type Step = readonly [Part, ...Part[]];

/** The result of a step. */
export interface StepResult {
  readonly name: string;
  readonly counts: Counts;
  readonly seconds: number;
}

/** The parts in their order; neighbours that mostly wait are one step. */
export function stepsOf(parts: readonly Part[]): readonly Step[] {
  const steps: Step[] = [];
  for (const part of parts) {
    const last = steps.at(-1);
    if (last !== undefined && mostlyWaits(part) && last.every(mostlyWaits)) steps[steps.length - 1] = [...last, part];
    else steps.push([part]);
  }
  return steps;
}

function mostlyWaits({ runs }: Part): boolean {
  return "mostlyWait" in runs && runs.mostlyWait === true;
}

/** Whether options can be passed on to the part's test runner. */
export function takesOptions({ runs }: Part): boolean {
  return typeof runs !== "function";
}

/** Only what `options` select, if there are any. */
export async function runStep(step: Step, options: readonly string[]): Promise<StepResult> {
  for (const { name, what } of step) console.log(`\n== ${name}: ${what}`);
  const started = Date.now();
  const counts = await countsOf(step, options).catch((error: unknown) => {
    // A part that cannot run does not hide what the others find.
    console.error(error instanceof Failure ? error.message : error);
    return { passed: 0, failed: 1 };
  });
  return { name: step.map(({ name }) => name).join(" "), counts, seconds: (Date.now() - started) / 1000 };
}

/** The counts of a step; rejects if it cannot run. */
export async function countsOf([first, ...others]: Step, options: readonly string[]): Promise<Counts> {
  const { runs } = first;
  if (typeof runs === "function") return runs();
  if ("goTest" in runs) return runs.goTest(options);
  const suites = [first, ...others].flatMap((part) => ("prepare" in part.runs ? [part.runs] : []));
  for (const { prepare } of suites) await prepare();
  const own = suites.flatMap((one) => one.options ?? []);
  return runSuites(
    [first, ...others].map(({ name }) => name),
    [...own, ...options],
    runs,
  );
}
