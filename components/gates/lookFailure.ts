import { catalogue, type FailureCode } from "../errors/catalogue.ts";

/** What a node answered is of no form that is known here: another try would see the same. */
export class UnreadableNode extends Error {
  override readonly name = "UnreadableNode";

  constructor(node: string, cause: unknown) {
    super(`${node}: ${firstLine(cause)}`, { cause });
  }
}

/** Why a gate cannot go on: it is not that what it waits for is not so, but that it cannot be looked at. */
export function lookFailure(gate: string, error: unknown): Error {
  const code: FailureCode = error instanceof UnreadableNode ? "SLU-T113" : "SLU-K119";
  const { title, remedy } = catalogue[code];
  return new Error(
    [`${gate} cannot look (${code}: ${title})`, `  ${firstLine(error)}`, `  What to do: ${remedy}`].join("\n"),
    { cause: error },
  );
}

/** A parser's further lines quote what it read. */
function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}
