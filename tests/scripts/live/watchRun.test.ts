// The event log of a run while it is written, and the lines at the bottom of a terminal.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { EventLog } from "../../../scripts/base/eventLog.ts";
import { EventFollower } from "../../../scripts/live/followEvents.ts";
import { ReservedLines, type Terminal } from "../../../scripts/live/reservedLines.ts";
import { hasTable, watchRun } from "../../../scripts/live/watchRun.ts";
import { EngineWriter } from "../support/engineWriter.ts";

let folder: string;
let log: EventLog;
let engine: EngineWriter;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-live-"));
  log = new EventLog(folder);
  engine = new EngineWriter(log.path);
});
afterEach(() => {
  engine.close();
  log.close();
  rmSync(folder, { recursive: true });
});

const gate = "urn:pulumi:dev::sluice::pulumi-nodejs:dynamic/gates:Etcd::dev-etcd";
const begins = JSON.stringify({ resourcePreEvent: { metadata: { op: "create", urn: gate } } });
const summary = (isPreview: boolean) => JSON.stringify({ summaryEvent: { isPreview } });

/** Records what is written, and has the height that was set. */
class FakeTerminal implements Terminal {
  rows = 24;
  readonly columns = 80;
  written = "";
  readonly heights: number[] = [];

  write(text: string): void {
    this.written += text;
  }

  reportRows(rows: number): void {
    this.heights.push(rows);
    this.rows = rows;
  }
}

describe("an event log that is being written", () => {
  test("gives each event once, also one that comes in two pieces", () => {
    const follower = new EventFollower(log);
    engine.write(`${begins}\n${begins.slice(0, 10)}`);
    expect(follower.next().events).toHaveLength(1);
    expect(follower.next().events).toEqual([]);
    engine.write(`${begins.slice(10)}\n`);
    expect(follower.next().events).toEqual([JSON.parse(begins)]);
  });

  test("begins again when the engine writes another one, for the update", () => {
    const follower = new EventFollower(log);
    engine.write(`${begins}\n${summary(true)}\n`);
    follower.next();
    engine.close();
    engine = new EngineWriter(log.path);
    engine.write(`${begins}\n`);
    expect(follower.next()).toEqual({ events: [JSON.parse(begins)], isUpdate: true });
  });
});

describe("lines at the bottom of a terminal (S6.3)", () => {
  test("are below what it reports to programs, and given back in the end", () => {
    const terminal = new FakeTerminal();
    const lines = new ReservedLines(terminal, 2);
    lines.show(["one", "two"]);
    expect(terminal.heights).toEqual([22]);
    expect(terminal.written).toContain("\x1b[1;22r");
    expect(terminal.written).toContain("\x1b[23;1H\x1b[2Kone\x1b[24;1H\x1b[2Ktwo");
    lines.show(["three", ""]);
    expect(terminal.heights).toEqual([22]);
    lines.end();
    lines.end();
    expect(terminal.heights).toEqual([22, 24]);
    expect(terminal.written.split("\x1b[r")).toHaveLength(2);
  });

  test("follow a terminal that is resized", () => {
    const terminal = new FakeTerminal();
    const lines = new ReservedLines(terminal, 2);
    lines.show(["", ""]);
    terminal.rows = 40;
    lines.show(["", "two"]);
    expect(terminal.heights).toEqual([22, 38]);
    expect(terminal.written).toContain("\x1b[40;1H\x1b[2Ktwo");
    lines.end();
    expect(terminal.heights.at(-1)).toBe(40);
  });

  test("are not taken from a terminal that is too small", () => {
    const terminal = new FakeTerminal();
    terminal.rows = 10;
    new ReservedLines(terminal, 2).show(["one", "two"]);
    expect([terminal.written, terminal.heights]).toEqual(["", []]);
  });
});

describe("a run of the engine", () => {
  const shown = async (terminal: FakeTerminal, text: string) => {
    while (!terminal.written.includes(text)) await new Promise((done) => setTimeout(done, 20));
  };

  test("shows below its table what it waits for, and nothing after it has ended", async () => {
    const terminal = new FakeTerminal();
    const ended = await watchRun(
      log,
      async () => {
        engine.write(`${begins}\n`);
        await shown(terminal, "Etcd, ");
        return 7;
      },
      terminal,
    );
    expect(ended).toEqual({ result: 7, askedMs: 0 });
    expect(terminal.heights).toEqual([21, 24]);
  });

  test("that fails gives the terminal back", async () => {
    const terminal = new FakeTerminal();
    const run = async () => {
      engine.write(`${begins}\n`);
      await shown(terminal, "Etcd, ");
      throw new Error("cannot start");
    };
    await expect(watchRun(log, run, terminal)).rejects.toThrow("cannot start");
    expect(terminal.heights).toEqual([21, 24]);
    expect(process.listeners("exit").filter(({ name }) => name === "restore")).toEqual([]);
  });

  test.each([
    [["--yes", "--skip-preview"], true],
    [["--json"], false],
    [["--diff"], false],
    [["--non-interactive=true"], false],
  ])("draws a table with %j: %p", (options, expected) => {
    expect(hasTable(options)).toBe(expected);
  });
});
