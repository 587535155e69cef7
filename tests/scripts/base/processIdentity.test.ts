import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { isAlive, startOf } from "../../../scripts/base/processIdentity.ts";

const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const own = { pid: process.pid, start: startOf(process.pid) ?? 0, boot };

describe("a process", () => {
  test("is alive while it runs, identified by its number, its start and the boot", () => {
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, start: own.start - 1 })).toBe(false);
    expect(isAlive({ ...own, boot: "another" })).toBe(false);
  });

  test("is not alive once it has ended, also while nobody has collected it", async () => {
    // It ends with its input, and the process that started it never asks how.
    const child = spawn("sh", ["-c", "exec 3<&0; cat <&3 & echo $!; exec sleep 600"]);
    const [text] = await once(child.stdout, "data");
    const pid = Number(text);
    const start = startOf(pid) ?? 0;
    expect(start).toBeGreaterThan(own.start);
    child.stdin.end();
    while (isAlive({ pid, start, boot })) await new Promise((done) => setTimeout(done, 10));
    expect(startOf(pid)).toBeUndefined();
    child.kill("SIGKILL");
    await once(child, "close");
  });
});
