import { describe, expect, test } from "@jest/globals";
import { longestPauseMs, readCron } from "../../../components/model/cron.ts";

const hour = 3_600_000;
const pause = (text: string) => {
  const cron = readCron(text);
  return cron && (longestPauseMs(cron, new Date("2026-01-01T00:00:00Z")) ?? 0) / hour;
};

describe("a cron expression", () => {
  test.each([
    ["0 */6 * * *", 6],
    ["@daily", 24],
    ["@hourly", 1],
    ["*/15 * * * *", 0.25],
    ["5/20 3 * * *", 23 + 20 / 60],
    ["0 3 * * mon", 168],
    ["0 3 * * 1-5", 72],
    ["0 2,14 * * *", 12],
    ["0 0 1 * *", 744],
    // Either day is enough if both are named.
    ["0 0 1 * sun", 168],
    ["0 0 1 jan *", 8_760],
  ])("%s is due after %d hours at most", (text, hours) => {
    expect(pause(text)).toBeCloseTo(hours, 5);
  });

  test.each(["", "0 */6 * *", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 7", "a * * * *"])(
    "is not %j",
    (text) => {
      expect(readCron(text)).toBeUndefined();
    },
  );

  test.each(["5-1 * * * *", "*/0 * * * *", "1-2-3 * * * *", "@often", "0 0 * * * *", "1,,2 * * * *"])(
    "is not %j either",
    (text) => {
      expect(readCron(text)).toBeUndefined();
    },
  );

  test("is due on its days, and at its minutes of them", () => {
    const cron = readCron("30,0 4 * * sat");
    expect(cron?.minutes).toEqual([240, 270]);
    expect(cron?.isDay(new Date("2026-11-21T23:00:00Z"))).toBe(true);
    // In UTC it is still Friday.
    expect(cron?.isDay(new Date("2026-11-21T00:30:00+01:00"))).toBe(false);
  });
});
