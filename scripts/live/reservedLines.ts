// Lines at the bottom of the terminal that the engine, which has the rest of it, does not touch. It draws by the size that the terminal reports, which is made smaller, and
// the scrolling region ends above the lines.
import { spawnSync } from "node:child_process";

export interface Terminal {
  readonly rows: number;
  readonly columns: number;
  write(text: string): void;
  /** Sets the height that it reports to programs. */
  reportRows(rows: number): void;
}

/** Undefined where there is none. */
export function ownTerminal(): Terminal | undefined {
  const { stdout, stdin } = process;
  if (!stdout.isTTY || !stdin.isTTY) return undefined;
  return {
    get rows() {
      return stdout.rows;
    },
    get columns() {
      return stdout.columns;
    },
    write: (text) => void stdout.write(text),
    reportRows: (rows) => void spawnSync("stty", ["rows", `${rows}`], { stdio: ["inherit", "ignore", "ignore"] }),
  };
}

/** Fewer rows would leave the engine none. */
const leastRows = 12;

export class ReservedLines {
  private readonly terminal: Terminal;
  private readonly count: number;
  /** The terminal's real height while the lines are reserved. */
  private rows: number | undefined;

  constructor(terminal: Terminal, count: number) {
    this.terminal = terminal;
    this.count = count;
  }

  show(lines: readonly string[]): void {
    if (!this.reserve()) return;
    const top = (this.rows ?? 0) - this.count + 1;
    const drawn = lines.slice(0, this.count).map((line, place) => `\x1b[${top + place};1H\x1b[2K${line}`);
    this.terminal.write(`\x1b7\x1b[m${drawn.join("")}\x1b8`);
  }

  /** Gives the lines back. */
  end(): void {
    if (this.rows === undefined) return;
    const { rows } = this;
    this.rows = undefined;
    // Setting the region moves the cursor.
    this.terminal.write(`\x1b7\x1b[r\x1b[${rows - this.count + 1};1H\x1b[J\x1b8`);
    this.terminal.reportRows(rows);
  }

  /** Also again where the terminal was resized; false where it is too small. */
  private reserve(): boolean {
    const { rows } = this.terminal;
    if (this.rows !== undefined && rows === this.rows - this.count) return true;
    if (this.rows === undefined && rows < leastRows) return false;
    if (rows !== this.rows) {
      this.rows = rows;
      const room = "\n".repeat(this.count);
      this.terminal.write(`${room}\x1b[${this.count}A\x1b7\x1b[1;${rows - this.count}r\x1b8`);
      this.terminal.reportRows(rows - this.count);
    }
    return true;
  }
}
