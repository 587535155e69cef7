import { describe, expect, test } from "@jest/globals";
import { Failure, needAll } from "../../../scripts/base/fail.ts";

const refuses = (message: string) => Promise.reject(new Failure(message));

describe("several checks at once (S6.3)", () => {
  test("are refused together, with what each of them refuses", async () => {
    await expect(needAll([refuses("no Go"), Promise.resolve(), refuses("no disk space")])).rejects.toThrow(
      new Failure("no Go\nno disk space"),
    );
  });

  test("do not hide a bug in one of them behind what another refuses", async () => {
    await expect(needAll([refuses("no Go"), Promise.reject(new TypeError("a bug"))])).rejects.toThrow(TypeError);
  });

  test("refuse nothing where all of them are met", async () => {
    await expect(needAll([Promise.resolve(1)])).resolves.toBeUndefined();
  });
});
