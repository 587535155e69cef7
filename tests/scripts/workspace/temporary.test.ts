import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { start } from "../support/child.ts";

const scripts = join(import.meta.dirname, "..", "..", "..", "scripts", "workspace");
const work = mkdtempSync(join(tmpdir(), "sluice-temporary-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

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
    { PATH: process.env.PATH, SLUICE_WORK: join(work, "work") },
  );

test("what a program leaves in its folder for temporary files goes with us, however it ends", async () => {
  const ended = await running('stat -c %a "$TMPDIR"; mktemp; exit 3').ended;
  expect(ended).toMatchObject({ code: 3, stdout: expect.stringMatching(/^folder (.+)\n700\n\1\/tmp\..+\n$/) });
  expect(readdirSync(join(work, "work"))).toEqual([]);
});

test("also on Ctrl-C", async () => {
  const child = running("mktemp; echo begun; sleep 60");
  const folder = await child.says(/^folder (.+)$/m);
  await child.said("begun");
  expect(readdirSync(folder)).toHaveLength(1);
  child.killGroup("SIGINT");
  await child.ended;
  expect(existsSync(folder)).toBe(false);
});
