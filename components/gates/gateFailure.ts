import { resume } from "../engine/interruption.ts";
import type { FailureCode } from "../errors/catalogue.ts";
import { firstLine } from "../errors/firstLine.ts";
import { type Finding, SluiceError } from "../errors/sluiceError.ts";
import type { Unmet } from "../waiting/history.ts";
import type { WaitEnd } from "../waiting/waitLoop.ts";
import type { GateCheck } from "./gateDefinition.ts";

type Unopened = Exclude<WaitEnd<unknown>, { kind: "opened" }>;

/** Why a gate did not open: what was expected, on which node, what was observed last, for how long, and what to do. */
export function gateFailure(
  { name, timeoutCode }: Pick<GateCheck<never, never>, "name" | "timeoutCode">,
  end: Unopened,
  /** The stability window. */
  stableSeconds: number,
  {
    logs = new Map(),
    hasOpened = false,
  }: {
    /** The last lines of logs, by what is unmet. */
    readonly logs?: ReadonlyMap<Unmet, string> | undefined;
    /** Whether all conditions were met before, so that the stages behind it have started. */
    readonly hasOpened?: boolean;
  } = {},
): SluiceError {
  const waited = `${Math.round(end.seconds)} s`;
  if (end.kind === "interrupted") {
    const [first, ...others] = unmetIn(end, stableSeconds, () => undefined);
    return new SluiceError({ ...first, subject: `Interrupted: gate ${name}, after ${waited}`, remedy: resume, others });
  }
  const did = hasOpened ? `opened, and then ${endAfterOpening(end.kind, stableSeconds)}` : outcome(end.kind);
  const subject = `gate ${name} ${did} ${waited}`;
  // A finding that is only pending next to a failed or stalled one is listed without a remedy.
  const isBlocking = ({ verdict, isStalled }: Unmet) =>
    end.kind === "timeout" || verdict.kind === "failed" || isStalled === true;
  const [first, ...others] = unmetIn(
    end,
    stableSeconds,
    (one) => {
      if (one === undefined) return timeoutCode;
      return isBlocking(one) ? (one.verdict.code ?? timeoutCode) : undefined;
    },
    logs,
  );
  return new SluiceError({ ...first, subject, others });
}

function outcome(kind: "failed" | "stalled" | "timeout"): string {
  if (kind === "stalled") return "gave up early, after";
  return kind === "failed" ? "failed after" : "did not open within";
}

function endAfterOpening(kind: "failed" | "stalled" | "timeout", stableSeconds: number): string {
  return kind === "timeout" ? `did not stay open for ${stableSeconds} s within` : outcome(kind);
}

/** Permanent failures come first, so that the failure has their code. */
function unmetIn(
  { unmet, hasObserved }: Unopened,
  stableSeconds: number,
  codeOf: (one?: Unmet) => FailureCode | undefined,
  logs: ReadonlyMap<Unmet, string> = new Map(),
): readonly Finding[] {
  if (!hasObserved) return [{ code: codeOf(), seen: "nothing was observed" }];
  if (unmet.length === 0) {
    return [{ code: codeOf(), seen: `all conditions were met, but not yet for ${stableSeconds} s without a break` }];
  }
  return unmet
    .map((one) => ({ one, ...one }))
    .map(({ one, phrase, verdict, seconds }) => ({
      code: codeOf(one),
      what: phrase,
      log: logs.get(one),
      where: verdict.where,
      seen: verdict.reason,
      forSeconds: seconds,
      // Beside a failure, what only waits has no remedy.
      ...(codeOf(one) !== undefined && { remedy: verdict.remedy }),
    }));
}

/** Why a gate cannot open: its conditions cannot be checked. */
export function observationFailure(gate: string, error: unknown): SluiceError {
  const subject = `gate ${gate}`;
  if (error instanceof SluiceError) return error.with({ subject });
  return new SluiceError({ code: "SLU-K119", subject, seen: firstLine(error), cause: error });
}
