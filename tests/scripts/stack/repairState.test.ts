import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { repairState } from "../../../scripts/stack/repairState.ts";

const backend = "file:///state";
const state = (resources: number) =>
  JSON.stringify({ version: 3, checkpoint: { latest: { resources: Array(resources).fill({}) } } });

describe("a state in files that was cut off (S5.3)", () => {
  let folder = "";
  let file = "";
  let said: ReturnType<typeof jest.spyOn>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-repair-"));
    const stacks = join(folder, ".pulumi", "stacks", "sluice");
    mkdirSync(stacks, { recursive: true });
    mkdirSync(join(folder, ".pulumi", "backups", "sluice", "dev"), { recursive: true });
    file = join(stacks, "dev.json");
    said = jest.spyOn(console, "error").mockImplementation(() => undefined);
  });
  afterEach(() => {
    said.mockRestore();
    rmSync(folder, { recursive: true });
  });

  test("is left unchanged if it was written completely, without a message", async () => {
    writeFileSync(file, state(3));
    writeFileSync(`${file}.bak`, state(2));
    await repairState(folder, backend);
    expect(readFileSync(file, "utf8")).toBe(state(3));
    expect(said).not.toHaveBeenCalled();
  });

  test("has the files next to it removed: an empty one makes the CLI refuse a complete state", async () => {
    writeFileSync(file, state(3));
    writeFileSync(`${file}.attrs`, "");
    await repairState(folder, backend);
    expect(existsSync(`${file}.attrs`)).toBe(false);
    expect(readFileSync(file, "utf8")).toBe(state(3));
  });

  test.each([
    ["empty", ""],
    ["cut off", state(3).slice(0, 40)],
  ])(
    "is restored from the state before the last change where it is %s, and the rest of it is kept",
    async (_, rest) => {
      writeFileSync(file, rest);
      writeFileSync(`${file}.bak`, state(2));
      await repairState(folder, backend);
      expect(readFileSync(file, "utf8")).toBe(state(2));
      expect(readFileSync(`${file}.damaged`, "utf8")).toBe(rest);
      expect(said).toHaveBeenCalledWith(`sluice: the state of dev was cut off; restored from ${file}.bak`);
    },
  );

  test("is restored from the newest complete backup if that is cut off too", async () => {
    writeFileSync(file, "");
    writeFileSync(`${file}.bak`, "{");
    const backup = (time: number) => join(folder, ".pulumi", "backups", "sluice", "dev", `dev.${time}.json`);
    writeFileSync(backup(1), state(1));
    writeFileSync(backup(2), state(2));
    writeFileSync(backup(3), "");
    await repairState(folder, backend);
    expect(readFileSync(file, "utf8")).toBe(state(2));
  });

  const takeLock = (pid: number) => {
    const locks = join(folder, ".pulumi", "locks", "organization", "sluice", "dev");
    mkdirSync(locks, { recursive: true });
    const lock = { pid, username: "me", hostname: hostname(), timestamp: "2026-11-19T10:00:00Z" };
    writeFileSync(join(locks, "1.json"), JSON.stringify(lock));
  };

  test("is restored where it was moved aside by an engine that was killed before it wrote the next one", async () => {
    writeFileSync(`${file}.bak`, state(2));
    takeLock(0);
    await repairState(folder, backend);
    expect(readFileSync(file, "utf8")).toBe(state(2));
    expect(said).toHaveBeenCalledWith(`sluice: the state of dev was cut off; restored from ${file}.bak`);
  });

  test("stays absent where its stack was removed, which leaves no lock", async () => {
    writeFileSync(`${file}.bak`, state(2));
    await repairState(folder, backend);
    expect(existsSync(file)).toBe(false);
  });

  test("is left alone while an engine works on it, which has it in pieces for moments", async () => {
    const engine = join(folder, "pulumi");
    copyFileSync("/bin/sleep", engine);
    chmodSync(engine, 0o755);
    const running = spawn(engine, ["60"]);
    try {
      takeLock(running.pid ?? 0);
      writeFileSync(`${file}.bak`, state(2));
      await repairState(folder, backend);
      expect(existsSync(file)).toBe(false);
      writeFileSync(file, "");
      await repairState(folder, backend);
      expect(readFileSync(file, "utf8")).toBe("");
    } finally {
      running.kill();
    }
  });

  test("is never treated as absent: without a backup the run ends, and names the file", async () => {
    writeFileSync(file, "");
    await expect(repairState(folder, backend)).rejects.toThrow(
      `the state of dev is damaged, and there is no backup of it: restore ${file}`,
    );
    expect(existsSync(file)).toBe(true);
  });

  test("is not needed: without a folder there is nothing to repair", async () => {
    await expect(repairState(join(folder, "none"), backend)).resolves.toBeUndefined();
  });
});
