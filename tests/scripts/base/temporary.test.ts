import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { runs, start, until } from "../support/child.ts";

const scripts = join(import.meta.dirname, "..", "..", "..", "scripts", "base");
const root = mkdtempSync(join(tmpdir(), "sluice-temporary-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Prints that it has started, and waits. Not a shell: one that is about to start a program catches Ctrl-C, and may lose it. */
const stay = `exec '${process.execPath}' -e 'console.log("started"); setInterval(() => undefined, 1000)'`;

/** A process that runs a child with the folder for its temporary files, as an engine is run. */
const running = (script: string) =>
  start(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module-typescript",
      "--eval",
      `import { temporaryFolder } from ${JSON.stringify(join(scripts, "temporary.ts"))};
       import { runAttached } from ${JSON.stringify(join(scripts, "run.ts"))};
       const TMPDIR = temporaryFolder();
       console.log("folder " + (TMPDIR === temporaryFolder() ? TMPDIR : "is another"));
       process.exitCode = await runAttached("sh", ["-c", ${JSON.stringify(script)}], { env: { ...process.env, TMPDIR } });`,
    ],
    { PATH: process.env.PATH, SLUICE_WORK: join(root, "work") },
  );

test("what a program leaves in its folder for temporary files is removed when this process ends", async () => {
  const ended = await running('stat -c %a "$TMPDIR"; mktemp; exit 3').ended;
  expect(ended).toMatchObject({ code: 3, stdout: expect.stringMatching(/^folder (.+)\n700\n\1\/tmp\..+\n$/) });
  expect(readdirSync(join(root, "work"))).toEqual([]);
});

test("what a program leaves in its folder for temporary files is removed on Ctrl-C", async () => {
  const child = running(`mktemp; ${stay}`);
  const folder = await child.says(/^folder (.+)$/m);
  await child.said("started");
  expect(readdirSync(folder)).toHaveLength(1);
  child.killGroup("SIGINT");
  await child.ended;
  expect(existsSync(folder)).toBe(false);
});

test("what a killed process leaves is removed by the next one, once nothing uses it any more", async () => {
  const work = join(root, "work");
  mkdirSync(join(work, "tmp-of-another-kind"), { recursive: true });
  const other = running(stay);
  const kept = await other.says(/^folder (.+)$/m);
  await other.said("started");
  const next = async () => {
    expect(await running("true").ended).toMatchObject({ code: 0, stderr: "" });
    return readdirSync(work).sort();
  };

  const killed = running(`mktemp; ${stay}`);
  const left = await killed.says(/^folder (.+)$/m);
  await killed.said("started");
  killed.kill("SIGKILL");
  await until(() => !runs(killed.pid), "the end");
  // Like an engine, which keeps running.
  expect(await next()).toEqual([basename(kept), basename(left), "tmp-of-another-kind"].sort());
  expect(readdirSync(left)).toHaveLength(1);

  killed.killGroup("SIGKILL");
  await killed.ended;
  expect(await next()).toEqual([basename(kept), "tmp-of-another-kind"].sort());
  other.killGroup("SIGINT");
  await other.ended;
});
