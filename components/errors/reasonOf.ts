import { firstLine } from "./firstLine.ts";
import { SluiceError } from "./sluiceError.ts";

/** The cause of an error in one line, for a message that contains everything else. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof SluiceError)) return firstLine(error);
  const { where } = error.details;
  return where === undefined ? error.seen : `${where}: ${error.seen}`;
}
