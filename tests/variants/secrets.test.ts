// The secrets of a cluster at a cloud while it is created: its API is reached by Sluice's own proxy, and a secret patch is in the machine configs.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { stringify } from "yaml";
import type { Ended } from "../../scripts/base/run.ts";
import { Workbench } from "../support/cli.ts";
import { plantedSecrets, type Searched, searchedMeanwhile } from "../support/plantedSecrets.ts";
import { secretsPath } from "../support/secretsFixture.ts";

jest.setTimeout(600_000);

const timeout = 500_000;
const lab = "secrets";
const bench = new Workbench({ fresh: false });
const password = `mk${randomBytes(16).toString("hex")}`;
let up: Searched<Ended>;

beforeAll(async () => {
  const name = bench.addEnvironment("dev", {
    ...{ lab: { name: lab }, charts: { path: ".work/charts" }, stableSeconds: 1, protect: false },
    nodes: [{ name: "cp-1", role: "controlplane", address: "10.0.1.11" }],
  });
  expect(await bench.npm("secrets", "import", name, "--file", secretsPath)).toMatchObject({ code: 0 });
  const registries = { config: { "registry.example.org": { auth: { username: "talos", password } } } };
  const input = stringify([{ name: "registry", patch: { machine: { registries } } }]);
  const set = ["config", "set", "--secret", "secretPatches", "--stack", name];
  expect(await bench.npmWith({ input }, "pulumi", ...set)).toMatchObject({ code: 0 });

  const secrets = plantedSecrets();
  secrets.add("the password of the registry", password);
  up = await searchedMeanwhile(bench, { secrets, lab }, () =>
    bench.npmWith({ timeout }, "up", name, "--yes", "--skip-preview"),
  );
});

afterAll(async () => {
  await bench.npm("lab", "--name", lab, "down");
  bench.remove();
});

test("S5.3 a cluster at a cloud comes up behind Sluice's own proxy", () => {
  const { code, stdout, stderr } = up.result;
  expect({ code, said: code === 0 ? "" : `${stdout.slice(-4_000)}${stderr}` }).toEqual({ code: 0, said: "" });
  expect(
    up.processes.some(({ environment }) =>
      environment.some((one) => /^HCLOUD_ENDPOINT=http:\/\/127\.0\.0\.1:/.test(one)),
    ),
  ).toBe(true);
});

test("S5.3 its machine secrets and its secret patch are in no command line, no environment but that of the program, no output, and no file at any moment", () => {
  const { inCommands, inEnvironments, inFiles, files, result } = up;
  expect({ inCommands, inEnvironments, inFiles }).toEqual({ inCommands: [], inEnvironments: [], inFiles: {} });
  expect(files).toBeGreaterThan(0);
  expect(`${result.stdout}${result.stderr}`).not.toContain(password);
});
