import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { backupName, isBackupName, timeOf } from "../../../components/backup/manifest.ts";
import { expired, type Listed } from "../../../components/backup/retention.ts";

const now = Date.parse("2026-11-20T12:00:00Z");
const hoursAgo = (hours: number) => backupName(new Date(now - hours * 3_600_000).toISOString());
const complete = (hours: number): Listed => ({ name: hoursAgo(hours), isComplete: true });
const unfinished = (hours: number): Listed => ({ name: hoursAgo(hours), isComplete: false });

describe("the name of a backup", () => {
  test("is the time when it was taken, which it can be read from", () => {
    const name = backupName("2026-11-20T05:12:33.123Z");
    expect(name).toBe("2026-11-20T05-12-33Z");
    expect(isBackupName(name)).toBe(true);
    expect(timeOf(name)).toBe(Date.parse("2026-11-20T05:12:33Z"));
    expect(isBackupName("2026-11-20")).toBe(false);
  });
});

describe("retention (S7.3)", () => {
  test("deletes the oldest complete backups beyond the number to keep, the oldest first", () => {
    const listed = [complete(1), complete(72), complete(24), complete(48)];
    expect(expired(listed, 2, now)).toEqual([hoursAgo(72), hoursAgo(48)]);
  });

  test("counts no unfinished backup, and deletes one only when nobody can be writing it any more", () => {
    const listed = [unfinished(1), complete(2), unfinished(25), complete(50)];
    expect(expired(listed, 2, now)).toEqual([hoursAgo(25)]);
  });

  test("leaves alone what is not named like a backup", () => {
    const listed = [{ name: "notes", isComplete: true }, complete(1), complete(2)];
    expect(expired(listed, 1, now)).toEqual([hoursAgo(2)]);
  });

  test("never deletes the newest complete backup, whatever else there is", () => {
    const one = fc.record({ hours: fc.integer({ min: 0, max: 5_000 }), isComplete: fc.boolean() });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), fc.integer({ min: -1, max: 10 }), (all, keep) => {
        const listed = all.map(({ hours, isComplete }) => ({ name: hoursAgo(hours), isComplete }));
        const newest = listed
          .filter((entry) => entry.isComplete)
          .map(({ name }) => name)
          .sort()
          .at(-1);
        expect(expired(listed, keep, now)).not.toContain(newest);
      }),
      // A listing that has the same name twice.
      { examples: [[[2185, 2185].map((hours, place) => ({ hours, isComplete: place === 0 })), 0]] },
    );
  });
});
