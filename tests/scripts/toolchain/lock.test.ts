import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { withLock } from "../../../scripts/toolchain/lock.ts";
import { start, until } from "../support/child.ts";

let folder: string;
let file: string;
let notes: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-lock-"));
  file = join(folder, "lock");
  notes = join(folder, "notes");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pollMs = 5;
const noWait = () => undefined;
const mustNotWait = () => expect("waited").toBe("not waited");
const lockUser = (times: number) =>
  start(process.execPath, [join(import.meta.dirname, "..", "support", "lockUser.ts"), file, notes, `${times}`], {
    PATH: process.env.PATH,
  });

/** A process that holds the lock until it is killed, and ignores SIGINT. */
function longHolder() {
  const script = `import { withLock } from ${JSON.stringify(join(import.meta.dirname, "../../../scripts/toolchain/lock.ts"))};
    process.on("SIGINT", () => undefined);
    await withLock(${JSON.stringify(file)}, () => undefined, () => new Promise(() => {
      console.log("held");
      setInterval(() => undefined, 1_000);
    }));`;
  const options = ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript", "--eval", script];
  return start(process.execPath, options, { PATH: process.env.PATH });
}

describe("the lock", () => {
  test("is held by one process at a time, however many try and how often", async () => {
    const users = [lockUser(10), lockUser(10), lockUser(10)];
    for (const user of users) expect(await user.ended).toMatchObject({ code: 0 });
    const lines = readFileSync(notes, "utf8").trim().split("\n");
    expect(lines).toHaveLength(60);
    for (let line = 0; line < lines.length; line += 2) {
      expect(lines[line]?.endsWith(" in")).toBe(true);
      expect(lines[line + 1]).toBe(lines[line]?.replace(" in", " out"));
    }
    expect(new Set(lines).size).toBe(6);
  });

  test("is held by one part of a process at a time", async () => {
    let inside = 0;
    const visit = async () => {
      expect(++inside).toBe(1);
      await until(() => true, "a moment");
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, () => withLock(file, noWait, visit, pollMs)));
    expect(inside).toBe(0);
  });

  test("is free again when the work fails, and returns what the work returns", async () => {
    const failing = withLock(file, noWait, () => Promise.reject(new Error("broken")), pollMs);
    await expect(failing).rejects.toThrow("broken");
    expect(await withLock(file, mustNotWait, async () => 7, pollMs)).toBe(7);
  });

  test("is reported to the waiting run with the process that holds it", async () => {
    const holder = longHolder();
    await holder.said("held");
    const holders: string[] = [];
    const waiting = withLock(
      file,
      (pid) => holders.push(pid),
      async () => "had it",
      50,
    );
    await until(() => holders.length > 0, "the message");
    holder.kill("SIGKILL");
    expect(await waiting).toBe("had it");
    expect(holders).toEqual([`${holder.pid}`]);
  });

  test("of a process that was killed is free at once", async () => {
    const holder = longHolder();
    await holder.said("held");
    holder.kill("SIGKILL");
    await holder.ended;
    expect(await withLock(file, noWait, async () => "had it", pollMs)).toBe("had it");
  });

  test("is not released by a signal to the process group before the work has ended", async () => {
    const holder = longHolder();
    await holder.said("held");
    holder.killGroup("SIGINT");
    let waits = 0;
    const waiting = withLock(
      file,
      () => void waits++,
      async () => "had it",
      pollMs,
    );
    await until(() => waits > 0, "the message");
    holder.killGroup("SIGKILL");
    expect(await waiting).toBe("had it");
  });
});
