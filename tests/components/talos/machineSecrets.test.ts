import { describe, expect, test } from "@jest/globals";
import { MachineSecrets } from "../../../components/talos/machineSecrets.ts";
import { record, unwrap } from "../../support/mocks.ts";
import { firstPreview, machineSecrets, talosMocks } from "../../support/talosMocks.ts";

const make = (protect: boolean) => () => new MachineSecrets("home", { talosVersion: "1.12.6" }, { protect });

describe("machine secrets", () => {
  test("S4.7 are one resource, which no change of the Talos version touches and which is secret as a whole", async () => {
    const { resources } = await record(make(false), talosMocks);
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

  test("S4.7 are protected, the resource itself too, where the environment is", async () => {
    const { resources } = await record(make(true), talosMocks);
    expect(resources.map(({ protect }) => protect)).toEqual([true, true]);
  });

  test("U1 register no output: who is handed them gets them from the program", async () => {
    const { outputs, result } = await record(make(false), talosMocks);
    expect(outputs).toEqual({ "sluice:talos:MachineSecrets home": {} });
    expect(await unwrap(result.machineSecrets)).toMatchObject({ known: true, value: machineSecrets });
  });

  test("U2 are unknown in the first preview, and ask nobody", async () => {
    const { invokes, resources, result } = await record(make(false), firstPreview);
    expect(invokes).toEqual([]);
    expect(resources).toHaveLength(2);
    expect(await unwrap(result.machineSecrets)).toMatchObject({ known: false });
  });
});
