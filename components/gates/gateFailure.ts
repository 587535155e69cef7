import { catalogue, type FailureCode } from "../errors/catalogue.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import type { Unmet } from "./history.ts";
import type { WaitEnd } from "./waitLoop.ts";

/** How many nodes or objects are named. */
const named = 20;

/** Why a gate did not open: what was wanted, of which node, what was seen last, how long, and what to do. */
export class GateFailure extends Error {
  override readonly name = "GateFailure";

  constructor(
    { name, timeoutCode }: Pick<GateDefinition<unknown, unknown>, "name" | "timeoutCode">,
    end: Exclude<WaitEnd<unknown>, { kind: "opened" }>,
  ) {
    const waited = `${Math.round(end.seconds)} s`;
    if (end.kind === "interrupted") {
      super(
        [
          `${name} was interrupted after ${waited}`,
          ...paragraphs(end.unmet),
          "  What is done is kept: the next `up` waits here again.",
        ].join("\n"),
      );
      return;
    }
    const blocking = end.kind === "failed" ? end.unmet.filter(({ verdict }) => verdict.kind === "failed") : end.unmet;
    const [code = timeoutCode] = blocking.map(({ verdict }) => verdict.code ?? timeoutCode);
    const remedies = new Set(blocking.map(({ verdict }) => remedyOf(verdict, timeoutCode)));
    super(
      [
        `${name} ${end.kind === "failed" ? `cannot open; seen after ${waited}` : `did not open within ${waited}`} (${code}: ${catalogue[code].title})`,
        ...paragraphs(end.unmet),
        ...[...remedies].map((remedy) => `  What to do: ${remedy}`),
      ].join("\n"),
    );
  }
}

function remedyOf(verdict: Unmet["verdict"], timeoutCode: FailureCode): string {
  const own = verdict.kind === "failed" ? verdict.remedy : undefined;
  return own ?? catalogue[verdict.code ?? timeoutCode].remedy;
}

/** One for each condition: its phrase, and below it a line for each node or object. */
function paragraphs(unmet: readonly Unmet[]): readonly string[] {
  const phrases = new Set(unmet.map(({ phrase }) => phrase));
  return [...phrases].flatMap((phrase) => {
    const lines = unmet.filter((one) => one.phrase === phrase).map(line);
    const more = lines.length > named ? [`    and ${lines.length - named} more`] : [];
    return [`  waited for ${phrase}:`, ...lines.slice(0, named), ...more];
  });
}

function line({ verdict: { where, reason }, seconds }: Unmet): string {
  const since = Math.round(seconds);
  return `    ${where === undefined ? "" : `${where}: `}${reason}${since === 0 ? "" : ` (for ${since} s)`}`;
}
