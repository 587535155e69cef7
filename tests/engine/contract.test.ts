// The contract of the machine configs of a deployed stack. Nothing of it is reachable: all is decided by the state.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { stageCharts } from "../../scripts/lab/charts.ts";
import { Workbench } from "../support/cli.ts";
import { recordedPassphrase, recordedSettings, recordedState } from "../support/recordedState.ts";
import { withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(300_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

describe("S8.1 the contract of a stack that Talos 1.13 was deployed with, without a network", () => {
  let name: string;
  beforeAll(async () => {
    await stageCharts();
    writeFileSync(join(bench.work, "passphrase"), recordedPassphrase, { mode: 0o600 });
    name = bench.addSettings("existing", recordedSettings("existing"));
    const file = join(bench.folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(recordedState("existing", name)));
    await bench.npm("pulumi", "config", "--stack", name);
    expect(await bench.npm("pulumi", "stack", "import", "--stack", name, "--file", file)).toMatchObject({ code: 0 });
  });

  const run = async (changes: Readonly<Record<string, unknown>>, script: string, ...args: readonly string[]) => {
    bench.editEnvironment(name, { talosVersion: "1.13.8", configContract: undefined, ...changes });
    return await bench.npmWith({ within: withoutNetwork() }, script, name, ...args);
  };

  test("is not changed before it was recorded, and the message names the one to set", async () => {
    const { code, stdout } = await run({ configContract: "v1.12" }, "preview");
    expect(code).toBeGreaterThan(0);
    expect(stdout).toMatch(/SLU-T241 .*\n +where: +(cp|w)-1\n +expected: +.*contract v1\.13/);
    expect(stdout).not.toContain("    at ");
  });

  test("is recorded by the first up, and stays when talosVersion changes: configs get another installer and nothing else", async () => {
    expect(await run({}, "up", "--yes", "--skip-preview")).toMatchObject({ code: 0 });
    const { code, stdout } = await run({ talosVersion: "1.13.9" }, "preview");
    expect(code).toBe(0);
    expect(stdout).toMatch(/cp-1: 1 change of the machine config/);
    expect(stdout).toMatch(/~ machine\.install\.image: .*:v1\.13\.8 -> .*:v1\.13\.9/);
    expect(stdout).not.toContain("contract");
  });

  test("is another one on request, with all that follows from it in the preview", async () => {
    const { code, stdout } = await run({ configContract: "v1.11" }, "preview");
    expect(code).toBe(0);
    expect(stdout).toContain("the contract of the machine configs changes from v1.13 to v1.11");
    expect(stdout).toMatch(/(cp|w)-1: \d+ changes? of the machine config/);
    expect(stdout).not.toMatch(/and \d+ more/);
  });

  test("must be one that Talos takes: an older talosVersion is refused, with what to do", async () => {
    const { code, stdout } = await run({ talosVersion: "1.12.6", kubernetesVersion: "1.35.4" }, "preview");
    expect(code).toBeGreaterThan(0);
    expect(stdout).toContain("SLU-T240 The machine configs are newer than Talos");
    expect(stdout).toContain("set configContract to v1.11 to v1.12");
    expect(stdout).not.toContain("    at ");
  });
});
