import { describe, expect, test } from "@jest/globals";
import { MachineSecrets } from "../../../../components/talos/credentials/machineSecrets.ts";
import { Talosconfig } from "../../../../components/talos/credentials/talosconfig.ts";
import { record, unwrap } from "../../../support/mocks.ts";
import { clientConfig, clientConfiguration, firstPreview, talosMocks } from "../../../support/talosMocks.ts";

const args = {
  clusterName: "home",
  endpoints: ["10.0.0.11", "10.0.0.12"],
  nodes: ["10.0.0.11", "10.0.0.12", "10.0.0.21"],
};
const make = () => {
  const secrets = new MachineSecrets("home", { talosVersion: "1.12.6" });
  return new Talosconfig("home", { ...args, clientConfiguration: secrets.clientConfiguration });
};

describe("the talosconfig", () => {
  test("S0.4 is what the official function makes, for exactly the given addresses", async () => {
    const { invokes, result } = await record(make, talosMocks);
    expect(invokes).toEqual([{ token: clientConfig, args: { ...args, clientConfiguration } }]);
    expect(await unwrap(result.talosconfig)).toEqual({ known: true, secret: true, value: "talosconfig of home" });
  });

  test("U1 is in the state, secret, even if a later stage fails and the stack has no outputs", async () => {
    const { outputs } = await record(make, talosMocks);
    expect(outputs).toMatchObject({
      "sluice:talos:Talosconfig home": { talosconfig: { secret: "talosconfig of home" } },
    });
  });

  test("U2 is unknown in the first preview, which calls nothing", async () => {
    const { invokes, result } = await record(make, firstPreview);
    expect(invokes).toEqual([]);
    expect(await unwrap(result.talosconfig)).toMatchObject({ known: false });
  });
});
