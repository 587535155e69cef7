// A stack that was deployed once, whose kubernetesVersion is edited. Nothing of it is reachable: what is refused is refused by the state alone.
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

describe("S5.4 the kubernetesVersion of a deployed environment, without a network", () => {
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

  const run = async (kubernetesVersion: string, script: string, ...args: readonly string[]) => {
    bench.editEnvironment(name, { kubernetesVersion });
    return await bench.npmWith({ within: withoutNetwork() }, script, name, ...args);
  };

  test("is refused by a preview where its minor version goes down, with what to do", async () => {
    const { code, stdout } = await run("1.32.4", "preview");
    expect(code).toBeGreaterThan(0);
    expect(stdout).toMatch(/SLU-T214 Kubernetes cannot change to this version in one step\n +where: +(cp|w)-1\n/);
    expect(stdout).toContain("and would be 1.32.4");
    expect(stdout).toMatch(/what to do: +Set kubernetesVersion to a release of/);
    expect(stdout).not.toContain("    at ");
  });

  test("is refused by an up that has no preview, before anything is changed", async () => {
    const before = await bench.exported(name);
    const { code, stdout } = await run("1.32.4", "up", "--yes", "--skip-preview");
    expect(code).toBeGreaterThan(0);
    expect(stdout).toContain("SLU-T214");
    const after = await bench.exported(name);
    const configs = (of: typeof before) =>
      of.resources.filter(({ type }) => type.endsWith(":NodeConfiguration") || type.endsWith(":AppliedMachineConfig"));
    expect(configs(after).map(({ outputs }) => outputs)).toEqual(configs(before).map(({ outputs }) => outputs));
  });

  test("may be another patch release", async () => {
    expect(await run("1.36.0", "preview")).toMatchObject({ code: 0 });
  });
});
