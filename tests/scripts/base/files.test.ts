import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { writeWhole } from "../../../scripts/base/files.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a file that is written as a whole", () => {
  test("S7.1 has its permissions, also where it replaces a file with others", async () => {
    const file = join(folder, "new", "file");
    await writeWhole(file, "first");
    expect(statSync(file).mode & 0o777).toBe(0o644);
    await writeWhole(file, "second", 0o600);
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["second", 0o600]);
  });

  test("S7.1 leaves the old one, and nothing half-written, if it cannot be written", async () => {
    const taken = join(folder, "taken");
    mkdirSync(taken);
    writeFileSync(join(taken, "inside"), "");
    await expect(writeWhole(taken, "a secret")).rejects.toThrow("EISDIR");
    expect(readdirSync(folder).filter((name) => name.startsWith("taken"))).toEqual(["taken"]);
  });
});
