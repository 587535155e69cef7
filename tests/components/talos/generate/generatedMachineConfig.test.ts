import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { GeneratedMachineConfig, refusal } from "../../../../components/talos/generate/generatedMachineConfig.ts";
import { machineConfigurationArgs } from "../../../../components/talos/generate/machineConfig.ts";
import { record, unwrap } from "../../../support/mocks.ts";
import { generator, machineSecrets, talosMocks } from "../../../support/talosMocks.ts";
import { machineInput, machineNode } from "../machineInput.ts";

const cluster = machineInput("1.13.8");
const node = machineNode(cluster, "w-1");
const make = () =>
  new GeneratedMachineConfig("home-w-1", { cluster, contract: "v1.13", node, machineSecrets: secrets() });
/** The arguments of an update; created after the mocks, like everything of Pulumi's. */
const secrets = () => pulumi.secret(machineSecrets) as unknown as GeneratedMachineConfigArgsSecrets;
type GeneratedMachineConfigArgsSecrets = ConstructorParameters<typeof GeneratedMachineConfig>[1]["machineSecrets"];

describe("a node's machine config", () => {
  test("S0.4 is made once by the official generator, from our patches and the cluster's secrets", async () => {
    const { invokes, result } = await record(make, talosMocks);
    expect(invokes).toEqual([
      { token: generator, args: { ...machineConfigurationArgs(cluster, node), machineSecrets } },
    ]);
    expect(await unwrap(result.machineConfiguration)).toEqual({
      known: true,
      secret: true,
      value: "config of a worker",
    });
  });

  test("U1 is one component without children, and its output is secret", async () => {
    const { resources, outputs } = await record(make, talosMocks);
    expect(resources.map(({ type, name, inputs }) => ({ type, name, inputs }))).toEqual([
      { type: "sluice:talos:GeneratedMachineConfig", name: "home-w-1", inputs: {} },
    ]);
    expect(outputs).toEqual({
      "sluice:talos:GeneratedMachineConfig home-w-1": { machineConfiguration: { secret: "config of a worker" } },
    });
  });

  test("U1 is secret even if the cluster's secrets come without the mark", async () => {
    const unmarked = pulumi.output(machineSecrets) as unknown as GeneratedMachineConfigArgsSecrets;
    const { result } = await record(
      () => new GeneratedMachineConfig("home-w-1", { cluster, contract: "v1.13", node, machineSecrets: unmarked }),
      talosMocks,
    );
    expect(await unwrap(result.machineConfiguration)).toMatchObject({ secret: true });
  });
});

// The failure of the component itself cannot be observed here: Pulumi ends the process of a program whose output fails.
describe("a machine config that the generator refuses", () => {
  const error = new Error("cannot construct !!str `hunter2` into bool");
  const patch = { name: "own", patch: { machine: { kubelet: { disableManifestsDirectory: "hunter2" } } } };

  test("S2.6 is reported with the node and the generator's words, without a stack trace", () => {
    const refused = refusal({ cluster: machineInput("1.13.8", { patches: [patch] }), node }, error);
    expect(pulumi.RunError.isInstance(refused)).toBe(true);
    expect(refused.message).toBe(
      "w-1: Talos' generator refuses the machine config: cannot construct !!str `hunter2` into bool",
    );
  });

  test.each(["grpc: the client connection is closing", "rpc error: code = Canceled desc = context canceled"])(
    "S2.6 is not reported for a call that was cut off with the run, by Ctrl-C or another failure: %s",
    (words) => {
      const invocation = `invocation of talos:machine/getConfiguration:getConfiguration returned an error: ${words}`;
      const refused = refusal(
        { cluster: machineInput("1.13.8", { secretPatches: [patch] }), node },
        new Error(invocation),
      );
      expect(pulumi.RunError.isInstance(refused)).toBe(true);
      expect(refused.message).toBe("w-1: the run ended before the machine config was generated");
    },
  );

  test("S2.6 is reported without the generator's words if they may quote a secret patch", () => {
    const refused = refusal({ cluster: machineInput("1.13.8", { secretPatches: [patch] }), node }, error);
    expect(refused.message).toBe(
      "w-1: Talos' generator refuses the machine config: its words are not shown, because they may quote a secret",
    );
    expect(JSON.stringify([refused, refused.cause, String(refused)])).not.toContain("hunter2");
  });
});
