// Texts in columns, for a terminal that is a hundred characters wide.

/** What a table is fitted into. */
export const width = 100;

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** The one that gives way where the others leave it too little. */
  readonly gives?: true;
}

/** The lines of a table, without trailing blanks. A text that does not fit ends in an ellipsis. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], indent = gap): string[] {
  const widest = columns.map(({ title }, place) =>
    Math.max(...[title, ...rows.map((row) => cell(row, place))].map(length)),
  );
  const blank = indent.length + gap.length * (columns.length - 1);
  const taken = widest.reduce((sum, own, place) => sum + (columns[place]?.gives ? 0 : own), blank);
  const widths = widest.map((own, place) => (columns[place]?.gives ? Math.min(own, width - taken) : own));
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
