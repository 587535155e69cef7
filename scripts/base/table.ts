// Texts in columns, for a terminal of eighty to a hundred characters.

/** The widest that a table gets: as wide as a narrow terminal, and where there is none a hundred characters. */
export const width = Math.min(Math.max(process.stdout.columns || 100, 80), 100);

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** The column that is shortened if the table is too wide. */
  readonly gives?: true;
}

/** The lines of a table, without trailing blanks. A text that does not fit ends in an ellipsis. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = gap,
  most = width,
): string[] {
  const widest = columns.map(({ title }, place) =>
    Math.max(...[title, ...rows.map((row) => cell(row, place))].map(length)),
  );
  const blank = indent.length + gap.length * (columns.length - 1);
  const taken = widest.reduce((sum, own, place) => sum + (columns[place]?.gives ? 0 : own), blank);
  const widths = widest.map((own, place) => (columns[place]?.gives ? Math.min(own, most - taken) : own));
  const line = (row: readonly string[]) => {
    const cells = columns.map(({ align }, place) => {
      const own = widths[place] ?? 0;
      const text = cut(cell(row, place), own);
      return align === "right" ? text.padStart(own) : text.padEnd(own);
    });
    return (indent + cells.join(gap)).trimEnd();
  };
  return [columns.map(({ title }) => title), ...rows].map(line);
}

const gap = "  ";

function cell(row: readonly string[], place: number): string {
  return row[place] ?? "";
}

function length(text: string): number {
  return text.length;
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 0))}…`;
}

/** The text in lines of whole words; only a word that is longer than that is longer than `most`. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter((one) => one !== "")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= most) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
