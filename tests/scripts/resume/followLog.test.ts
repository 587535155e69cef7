import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { EventLog } from "../../../scripts/base/eventLog.ts";
import { datedLines, followLog, type Growth } from "../../../scripts/resume/followLog.ts";
import { EngineWriter } from "../support/engineWriter.ts";

const line = (second: number) => `{"timestamp":${second}}\n`;

describe("the moments of an event log", () => {
  test.each<[string, string, readonly Growth[], readonly number[]]>([
    [
      "are those at which the log was long enough",
      line(1) + line(1),
      [
        { at: 1100, bytes: 16 },
        { at: 1700, bytes: 32 },
      ],
      [1100, 1700],
    ],
    [
      "are those of the first growth with the complete line",
      line(1),
      [
        { at: 1100, bytes: 9 },
        { at: 1200, bytes: 16 },
      ],
      [1200],
    ],
    ["are never outside the second of the line", line(1) + line(3), [{ at: 2500, bytes: 32 }], [1999, 3000]],
    ["are the engine's own where no growth was seen", line(4), [], [4000]],
    ["are those of the growth for a line without one", "{}\n", [{ at: 7, bytes: 3 }], [7]],
    ["are known of a line that was cut off", `${line(1)}{"timest`, [{ at: 1100, bytes: 24 }], [1100, 1100]],
  ])("%s", (_, log, growth, moments) => {
    expect(datedLines(Buffer.from(log), growth).map(({ at }) => at)).toEqual(moments);
  });

  test("are known of a log that grows, and of that of the update after it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-log-"));
    const log = new EventLog(folder);
    const engines: EngineWriter[] = [];
    try {
      let now = 1_000;
      const linesOf = followLog(log, () => now);
      const start = () => engines.push(new EngineWriter(log.path));
      const write = async (at: number, text: string) => {
        now = at;
        const noticed = new Promise<void>((done) => log.onChange(done));
        engines.at(-1)?.write(text);
        await noticed;
      };
      start();
      await write(1_250, line(1) + line(1));
      start();
      await write(2_750, line(2));
      expect(linesOf()).toEqual([{ at: 2_750, text: '{"timestamp":2}' }]);
    } finally {
      for (const engine of engines) engine.close();
      log.close();
      rmSync(folder, { recursive: true });
    }
  });
});
