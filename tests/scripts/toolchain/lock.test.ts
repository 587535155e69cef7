import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { withLock } from "../../../scripts/toolchain/lock.ts";
import { start, until } from "../support/child.ts";

let base: string;
let folder: string;
let notes: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "sluice-lock-"));
  folder = join(base, "lock");
  notes = join(base, "notes");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const quick = { poll: 5, heartbeat: 1_000, staleAfter: 60_000 };
const lockUser = (times: number) =>
  start(process.execPath, [join(import.meta.dirname, "..", "support", "lockUser.ts"), folder, notes, `${times}`], {});

describe("the lock", () => {
  test("is held by one process at a time, whoever asks and how often", async () => {
    const users = [lockUser(15), lockUser(15), lockUser(15), lockUser(15)];
    for (const user of users) expect(await user.ended).toMatchObject({ code: 0 });
    const lines = readFileSync(notes, "utf8").trim().split("\n");
    expect(lines).toHaveLength(120);
    for (let line = 0; line < lines.length; line += 2) {
      expect(lines[line]?.endsWith(" in")).toBe(true);
      expect(lines[line + 1]).toBe(lines[line]?.replace(" in", " out"));
    }
    expect(new Set(lines).size).toBe(8);
  });

  test("is held by one part of a process at a time", async () => {
    let inside = 0;
    const visit = async () => {
      expect(++inside).toBe(1);
      await sleep(1);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => withLock(folder, () => undefined, visit, quick)));
    expect(readdirSync(folder)).toEqual([]);
  });

  test("goes on to the next when the work fails, and gives what the work gives", async () => {
    const failing = withLock(
      folder,
      () => undefined,
      () => Promise.reject(new Error("broken")),
      quick,
    );
    await expect(failing).rejects.toThrow("broken");
    expect(
      await withLock(
        folder,
        () => undefined,
        async () => 7,
        quick,
      ),
    ).toBe(7);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of a process that was killed is free at once", async () => {
    const holder = lockUser(1_000_000);
    await until(() => existsSync(notes), "the holder");
    holder.kill("SIGKILL");
    await holder.ended;
    // As it stands when the holder was killed at work: with a claim.
    const machine = await ownClaim();
    writeFileSync(join(folder, [holder.pid, 12345, machine, "x"].join(".")), "");
    await withLock(
      folder,
      () => expect("waited").toBe("not waited"),
      async () => undefined,
      quick,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is free where its holder's number now belongs to another process", async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, [process.pid, 1, await ownClaim(), "x"].join(".")), "");
    await withLock(
      folder,
      () => expect("waited").toBe("not waited"),
      async () => undefined,
      quick,
    );
  });

  test("of another machine is honoured while it is touched, and free when it no longer is", async () => {
    mkdirSync(folder);
    const claim = join(folder, "4711.1.elsewhere.x");
    writeFileSync(claim, "");
    const told: string[] = [];
    const waiting = withLock(
      folder,
      (holder) => told.push(holder),
      async () => "had it",
      quick,
    );
    await until(() => told.length > 0, "the message");
    expect(await Promise.race([waiting, sleep(50, "waits")])).toBe("waits");
    const longAgo = new Date(Date.now() - 61_000);
    utimesSync(claim, longAgo, longAgo);
    expect(await waiting).toBe("had it");
    expect(told).toEqual(["4711"]);
  });

  test("is touched while it is held, for those who see it from another machine", async () => {
    await withLock(
      folder,
      () => undefined,
      async () => {
        const [claim = ""] = readdirSync(folder);
        const longAgo = new Date(1_000_000);
        utimesSync(join(folder, claim), longAgo, longAgo);
        await until(() => statSync(join(folder, claim)).mtimeMs > 2_000_000, "a touch");
      },
      { ...quick, heartbeat: 5 },
    );
  });
});

/** The part of a claim's name that tells the machine. */
async function ownClaim(): Promise<string> {
  return withLock(
    join(base, "other"),
    () => undefined,
    async () => readdirSync(join(base, "other"))[0]?.split(".")[2] ?? "",
    quick,
  );
}
