/** The first line of a parser's error: the others quote the text that it read. */
export function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}
