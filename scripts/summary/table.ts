// Texts in columns, for a terminal that is a hundred characters wide.

/** What a table is fitted into. */
export const width = 100;

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** The one that gives way where the others leave it too little. */
  readonly gives?: true;
}

/** The lines of a table, indented, without trailing blanks. A text that does not fit ends in an ellipsis. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widest = columns.map(({ title }, place) =>
    Math.max(...[title, ...rows.map((row) => cell(row, place))].map(length)),
  );
  const taken = widest.reduce((sum, own, place) => sum + indent.length + (columns[place]?.gives ? 0 : own), 0);
  const widths = widest.map((own, place) => (columns[place]?.gives ? Math.min(own, width - taken) : own));
  const line = (row: readonly string[]) =>
    columns
      .map(({ align }, place) => {
        const own = widths[place] ?? 0;
        const text = cut(cell(row, place), own);
        return indent + (align === "right" ? text.padStart(own) : text.padEnd(own));
      })
      .join("")
      .trimEnd();
  return [columns.map(({ title }) => title), ...rows].map(line);
}

const indent = "  ";

function cell(row: readonly string[], place: number): string {
  return row[place] ?? "";
}

function length(text: string): number {
  return text.length;
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 0))}…`;
}
