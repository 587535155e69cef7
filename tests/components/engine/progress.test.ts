import { describe, expect, test } from "@jest/globals";
import { engineRow, Progress } from "../../../components/engine/progress.ts";
import { Engine } from "../gates/engine.ts";
import { SteppedClock } from "../gates/steppedClock.ts";

function started() {
  const clock = new SteppedClock();
  const sent: string[] = [];
  const progress = new Progress((text) => sent.push(`${clock.now()} ${text}`), clock);
  return { clock, sent, progress };
}

describe("progress", () => {
  test("is shown at once, and its newest text again after a while", async () => {
    const { clock, sent, progress } = started();
    for (const text of ["a", "b", "c"]) progress.show(text);
    await clock.advance(1_000);
    progress.show("d");
    expect(sent).toEqual(["0 a", "300 c", "1000 d"]);
  });

  test("is shown only when the text has changed", async () => {
    const { clock, sent, progress } = started();
    for (const text of ["a", "a", "b", "a"]) progress.show(text);
    await clock.advance(1_000);
    progress.show("a");
    expect(sent).toEqual(["0 a"]);
  });

  test("ends when it is ended", async () => {
    const { clock, sent, progress } = started();
    progress.show("a");
    progress.show("b");
    progress.end();
    await clock.advance(1_000);
    expect(sent).toEqual(["0 a"]);
    expect(clock.pending).toBe(0);
  });

  test("stays ended when there is still something to show", async () => {
    const { clock, sent, progress } = started();
    progress.end();
    progress.show("late");
    await clock.advance(1_000);
    progress.show("later");
    expect(sent).toEqual([]);
  });
});

describe("the row of a resource", () => {
  test("shows progress through the engine that started this process", async () => {
    const engine = new Engine();
    await engine.start();
    const row = engineRow("urn:of:a:gate");
    await row.send("2 of 3 nodes");
    row.close();
    engine.stop();
    expect(engine.told).toEqual(["urn:of:a:gate: 2 of 3 nodes"]);
  });

  test("does not stop the work when the engine is gone", async () => {
    const engine = new Engine();
    await engine.start();
    const row = engineRow("urn:of:a:gate");
    engine.stop();
    await expect(row.send("nobody hears it")).resolves.toBeUndefined();
    row.close();
  });

  test("does not stop the work when it is closed before the last text", async () => {
    const engine = new Engine();
    await engine.start();
    const row = engineRow("urn:of:a:gate");
    row.close();
    await expect(row.send("too late")).resolves.toBeUndefined();
    await expect(row.note("too late", "warning")).resolves.toBeUndefined();
    engine.stop();
    expect(engine.told).toEqual([]);
  });
});
