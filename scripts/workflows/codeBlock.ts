/** Text as a code block that its content cannot close, cut in the middle if it is longer than `limit` characters. */
export function codeBlock(text: string, limit: number): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const room = limit - 2 * fence.length - "text\n\n".length;
  return `${fence}text\n${cut(text.trimEnd(), room)}\n${fence}`;
}

/** The error is at the end of the engine's output and the context at the start, so the middle is left out. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const lines = text.split("\n");
  const note = (count: number) => `... ${count} lines are left out ...`;
  const half = Math.max(0, Math.floor((limit - note(lines.length).length - 2) / 2));
  const head = taken(lines, half);
  const tail = taken(lines.slice(head.length).reverse(), half).reverse();
  return [...head, note(lines.length - head.length - tail.length), ...tail].join("\n").slice(0, limit);
}

function taken(lines: readonly string[], limit: number): string[] {
  const fitting: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > limit) break;
    fitting.push(line);
  }
  return fitting;
}
