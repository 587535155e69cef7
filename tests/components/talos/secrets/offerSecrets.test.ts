import { existsSync, lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { offerSecrets, secretsFile } from "../../../../components/talos/secrets/offerSecrets.ts";
import { readBundle } from "../../../../components/talos/secrets/secretsBundle.ts";
import { secretsBundle } from "../../../support/secretsFixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-offer-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const link = () => join(folder, secretsFile);
/** Whose waits are over at once. */
const quickClock = () => {
  let now = 0;
  return {
    now: () => now,
    after: (milliseconds: number, call: () => void) => {
      now += milliseconds;
      const timer = setImmediate(call);
      return () => clearImmediate(timer);
    },
  };
};

describe("machine secrets that are offered to the plugin", () => {
  test("S7.1 can be read, more than once, until they are withdrawn, and then nothing is left", async () => {
    const withdraw = await offerSecrets(secretsBundle, folder);
    for (const _ of [1, 2]) expect(readBundle(readFileSync(link(), "utf8"))).toEqual(secretsBundle);
    const target = readlinkSync(link());
    withdraw();
    expect(lstatSync(link(), { throwIfNoEntry: false })).toBeUndefined();
    expect(existsSync(target)).toBe(false);
    withdraw();
  });

  test("S7.1 are in no file that has a name: only their owner can open them, through this process", async () => {
    const withdraw = await offerSecrets(secretsBundle, folder);
    expect(lstatSync(link()).isSymbolicLink()).toBe(true);
    expect(statSync(link())).toMatchObject({ nlink: 0 });
    expect(statSync(link()).mode & 0o777).toBe(0o600);
    withdraw();
  });

  test("S7.1 take the place of a link that a killed run has left", async () => {
    symlinkSync("/proc/999999999/fd/9", link());
    const withdraw = await offerSecrets(secretsBundle, folder, quickClock());
    expect(readBundle(readFileSync(link(), "utf8"))).toEqual(secretsBundle);
    withdraw();
  });

  test("S7.1 wait for another run in the same folder, and are not offered if that does not end", async () => {
    const first = await offerSecrets(secretsBundle, folder);
    const target = readlinkSync(link());
    await expect(offerSecrets(secretsBundle, folder, quickClock())).rejects.toThrow(
      `another run in this folder has been importing machine secrets for 30 s: wait until it has ended, or remove ${link()}`,
    );
    expect(readlinkSync(link())).toBe(target);
    first();
    (await offerSecrets(secretsBundle, folder, quickClock()))();
  });
});
