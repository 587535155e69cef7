import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { machineConfigurationArgs } from "../../../components/talos/machineConfig.ts";
import { NodeMachineConfig, refusal } from "../../../components/talos/nodeMachineConfig.ts";
import { record, unwrap } from "../../support/mocks.ts";
import { generator, machineSecrets, talosMocks } from "../../support/talosMocks.ts";
import { machineInput, machineNode } from "./machineInput.ts";

const cluster = machineInput("1.13.8");
const node = machineNode(cluster, "w-1");
const make = () => new NodeMachineConfig("home-w-1", { cluster, node, machineSecrets: secrets() });
/** As an update has them; made when the mocks are there, as everything of Pulumi's is. */
const secrets = () => pulumi.secret(machineSecrets) as unknown as NodeMachineConfigArgsSecrets;
type NodeMachineConfigArgsSecrets = ConstructorParameters<typeof NodeMachineConfig>[1]["machineSecrets"];

describe("a node's machine config", () => {
  test("S0.4 is made by the official generator, once, from our patches and the cluster's secrets", async () => {
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
      { type: "sluice:talos:NodeMachineConfig", name: "home-w-1", inputs: {} },
    ]);
    expect(outputs).toEqual({
      "sluice:talos:NodeMachineConfig home-w-1": { machineConfiguration: { secret: "config of a worker" } },
    });
  });

  test("U1 is secret also where the cluster's secrets come without the mark", async () => {
    const unmarked = pulumi.output(machineSecrets) as unknown as NodeMachineConfigArgsSecrets;
    const { result } = await record(
      () => new NodeMachineConfig("home-w-1", { cluster, node, machineSecrets: unmarked }),
      talosMocks,
    );
    expect(await unwrap(result.machineConfiguration)).toMatchObject({ secret: true });
  });
});

// The component itself cannot be seen failing here: Pulumi ends the process of a program whose output fails.
describe("a machine config that the generator refuses", () => {
  const error = new Error("cannot construct !!str `hunter2` into bool");
  const patch = { name: "own", patch: { machine: { kubelet: { disableManifestsDirectory: "hunter2" } } } };

  test("S2.6 names the node and gives the generator's words, and no stack of ours", () => {
    const refused = refusal({ cluster: machineInput("1.13.8", { patches: [patch] }), node }, error);
    expect(pulumi.RunError.isInstance(refused)).toBe(true);
    expect(refused.message).toBe(
      "w-1: Talos' generator refuses the machine config: cannot construct !!str `hunter2` into bool",
    );
  });

  test("S2.6 keeps the generator's words to itself where they may quote a secret patch", () => {
    const refused = refusal({ cluster: machineInput("1.13.8", { secretPatches: [patch] }), node }, error);
    expect(refused.message).toBe(
      "w-1: Talos' generator refuses the machine config: its words are not shown, for they may quote a secret",
    );
    expect(JSON.stringify([refused, refused.cause, String(refused)])).not.toContain("hunter2");
  });
});
