// A cluster whose only etcd is gone: nothing of it can be kept, and a new one begins on the same machine only when that is asked for.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { stringify } from "yaml";
import type { Ended } from "../../scripts/base/run.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { Workbench } from "../support/cli.ts";
import { plantedSecrets, type Searched, searchedMeanwhile } from "../support/plantedSecrets.ts";
import { secretsPath } from "../support/secretsFixture.ts";

jest.setTimeout(600_000);

const bench = new Workbench({ fresh: false });
const silent = ["--yes", "--skip-preview"];
const timeout = 400_000;
let name: string;

const lab = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await bench.npm("lab", "--name", "lost", ...args);
  if (code !== 0) throw new Error(`lab ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
};
const up = (...options: readonly string[]) => bench.npmWith({ timeout }, "up", name, ...silent, ...options);

/** How often something became true. */
const times = async (what: string, value: string) =>
  (await lab("timeline", "--json")).split(`"what":"${what}","value":"${value}"`).length - 1;

describe("a cluster of one control plane that is reset by hand (S1.6, S5.1, S5.5)", () => {
  let first: Searched<Ended>;
  beforeAll(async () => {
    const config = { ...environment({ platform: "existing" }), charts: { path: labCharts }, lab: { name: "lost" } };
    const keys = Object.entries(config).map(([key, value]) => [`sluice:${key}`, value]);
    name = bench.addSettings("lost", stringify({ config: Object.fromEntries(keys) }));
    expect(await bench.npm("secrets", "import", name, "--file", secretsPath)).toMatchObject({ code: 0 });
    first = await searchedMeanwhile(bench, { secrets: plantedSecrets(), lab: "lost" }, () => up());
    expect(first.result).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await lab("down");
    bench.remove();
  });

  test("S5.3 has its machine secrets in no command line, in no environment but that of the program, and in no file at any moment of its up", () => {
    const { processes, inCommands, inEnvironments, inFiles, files } = first;
    expect(processes.some(({ command }) => command.includes("pulumi up"))).toBe(true);
    expect({ inCommands, inEnvironments, inFiles }).toEqual({ inCommands: [], inEnvironments: [], inFiles: {} });
    expect(files).toBeGreaterThan(0);
  });

  test("S1.6 is left alone by --new-cluster while its etcd lives", async () => {
    const refused = await up("--new-cluster");
    expect(refused).not.toMatchObject({ code: 0 });
    expect(refused.stderr).toMatch(/--new-cluster begins .* not certain: etcd is on cp-1\. Nothing was changed/);
  });

  test("S5.5 ends a plain up once the loss is certain: the message names what is lost, and what to type", async () => {
    const labels = ["STATE", "EPHEMERAL"].flatMap((label) => ["--system-labels-to-wipe", label]);
    const reset = ["talosctl", "reset", ...labels, "--reboot", "--graceful=false", "--wait=false"];
    await lab("exec", "--", ...reset, "--nodes", "10.0.0.11");
    while ((await times("stage", "maintenance")) < 2) await lab("status");

    const began = performance.now();
    const lost = await up();
    expect(lost).not.toMatchObject({ code: 0 });
    expect((performance.now() - began) / 1000).toBeLessThan(100);
    expect(lost.stdout).toMatch(/SLU-T220 The cluster's etcd is gone/);
    expect(lost.stdout).toMatch(/npm run up -- <environment> --new-cluster/);
    expect(await times("bootstrap", "asked")).toBe(1);
  });

  test("S1.6 begins again with --new-cluster, with everything that is installed into it", async () => {
    const again = await up("--new-cluster");
    expect({ code: again.code, said: again.code === 0 ? "" : again.stdout + again.stderr }).toEqual({
      code: 0,
      said: "",
    });
    expect(await times("bootstrap", "asked")).toBe(2);
    await lab("exec", "--", "kubectl", "wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    expect(await up("--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
