import { describe, expect, test } from "@jest/globals";
import { MachineSecrets } from "../../../../components/talos/credentials/machineSecrets.ts";
import { secretsFile } from "../../../../components/talos/secrets/offerSecrets.ts";
import { type PluginSecrets, toPlugin } from "../../../../components/talos/secrets/secretsBundle.ts";
import { type MockOptions, record, unwrap } from "../../../support/mocks.ts";
import { secretsBundle } from "../../../support/secretsFixture.ts";
import { clientConfiguration, firstPreview, machineSecrets, talosMocks } from "../../../support/talosMocks.ts";

const make = (protect: boolean) => () => new MachineSecrets("home", { talosVersion: "1.12.6" }, { protect });

const withSecrets = (there: PluginSecrets): MockOptions => ({
  ...talosMocks,
  state: ({ inputs }) => ({ ...inputs, machineSecrets: there, clientConfiguration }),
});

describe("machine secrets", () => {
  test("S4.7 are one secret resource, which no change of the Talos version touches", async () => {
    const { imported, resources } = await record(make(false), talosMocks);
    expect(imported).toEqual({});
    expect(resources).toEqual([
      {
        type: "sluice:talos:MachineSecrets",
        name: "home",
        parent: undefined,
        inputs: {},
        protect: false,
        ignoreChanges: [],
        additionalSecretOutputs: [],
        dependencies: [],
        deleteBeforeReplace: false,
      },
      {
        type: "talos:machine/secrets:Secrets",
        name: "home",
        parent: "sluice:talos:MachineSecrets home",
        inputs: { talosVersion: "v1.12" },
        protect: false,
        ignoreChanges: ["talosVersion"],
        additionalSecretOutputs: ["machineSecrets", "clientConfiguration"],
        dependencies: [],
        deleteBeforeReplace: false,
      },
    ]);
  });

  test("S4.7 are protected, including the resource itself, if the environment is [C38]", async () => {
    const { resources } = await record(make(true), talosMocks);
    expect(resources.map(({ protect }) => protect)).toEqual([true, true]);
  });

  test("U1 are no output of their component", async () => {
    const { outputs, result } = await record(make(false), talosMocks);
    expect(outputs).toEqual({ "sluice:talos:MachineSecrets home": {} });
    expect(await unwrap(result.machineSecrets)).toMatchObject({ known: true, value: machineSecrets });
  });

  // That others are refused cannot be observed here: Pulumi ends the process of a program whose output fails. tests/engine/machineSecrets.test.ts does it.
  test("S7.1 are imported by the plugin if they are declared, and are used if they are those that the state has", async () => {
    const declared = () => new MachineSecrets("home", { talosVersion: "1.12.6", declared: secretsBundle });
    const { imported, result } = await record(declared, withSecrets(toPlugin(secretsBundle)));
    expect(imported).toEqual({ "talos:machine/secrets:Secrets home": secretsFile });
    expect(await unwrap(result.machineSecrets)).toMatchObject({ known: true, value: toPlugin(secretsBundle) });
  });

  test("U2 are unknown in the first preview, which calls nothing", async () => {
    const { invokes, resources, result } = await record(make(false), firstPreview);
    expect(invokes).toEqual([]);
    expect(resources).toHaveLength(2);
    expect(await unwrap(result.machineSecrets)).toMatchObject({ known: false });
  });
});
