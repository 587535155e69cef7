// The engine's event log as the commands read it while the engine writes it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { EventLog } from "../../../scripts/base/eventLog.ts";
import { EngineWriter } from "../support/engineWriter.ts";

let folder: string;
let log: EventLog;
const writers: EngineWriter[] = [];
const engine = () => {
  const writer = new EngineWriter(log.path);
  writers.push(writer);
  return writer;
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-event-log-"));
  log = new EventLog(folder);
});
afterEach(() => {
  for (const writer of writers.splice(0)) writer.close();
  log.close();
  rmSync(folder, { recursive: true });
});
const filesHave = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));

test("an event log is in no folder once the engine writes it, and can be read all the same (S5.3)", () => {
  const writer = engine();
  writer.write("one\n");
  expect(log.size).toBe(4);
  expect(filesHave()).toEqual([""]);
  writer.write("two\n");
  expect(log.whole().toString()).toBe("one\ntwo\n");
  expect(filesHave()).toEqual([""]);
});

test("an event log loses its name without being read, when the system reports that it has changed (S5.3)", async () => {
  const changed = new Promise<void>((done) => log.onChange(done));
  engine().write("secret\n");
  await changed;
  expect(filesHave()).toEqual([""]);
});

test("the event log of an update follows on that of its preview, and is in no folder either (S5.3)", () => {
  const preview = engine();
  preview.write("preview\n");
  expect([log.part, log.whole().toString()]).toEqual([0, "preview\n"]);
  preview.close();
  const update = engine();
  expect(log.whole().toString()).toBe("preview\n");
  update.write("update\n");
  expect(log.whole().toString()).toBe("update\n");
  expect(log.part).toBe(1);
  expect(filesHave()).toEqual([""]);
});

test("nothing is left of an event log that was closed, whether the engine wrote it or not", () => {
  engine().write("one\n");
  log.close();
  expect(readdirSync(folder)).toEqual([]);
  log = new EventLog(folder);
  expect(existsSync(log.path)).toBe(true);
  log.close();
  expect(readdirSync(folder)).toEqual([]);
  log = new EventLog(folder);
});
