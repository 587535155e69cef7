import { describe, expect, test } from "@jest/globals";
import { stackRecord } from "../../../components/lifecycle/orphans.ts";
import { markKilledUpdates } from "../../../scripts/orphans/killedUpdates.ts";

const urnOf = (type: string) => `urn:pulumi:dev::sluice::${type}::dev`;
const resource = (type: string, outputs: object, more: object = {}) => ({ type, urn: urnOf(type), outputs, ...more });
const config = "pulumi-nodejs:dynamic/talos:AppliedMachineConfig";
const gate = "pulumi-nodejs:dynamic/gates:Etcd";
const server = "hcloud:index/server:Server";

async function mark(deployment: { readonly resources: object[]; readonly pending_operations: object[] }) {
  let state = { version: 3, deployment };
  const calls: string[] = [];
  await markKilledUpdates(stackRecord(deployment), {
    call: async (args, input) => {
      calls.push(args.join(" "));
      if (args[1] === "import") state = JSON.parse(input ?? "");
      return { code: 0, stdout: JSON.stringify(state), stderr: "" };
    },
  });
  return { calls, deployment: state.deployment };
}

describe("updates that a kill of the engine ended (S5.3)", () => {
  test("are marked, so that the next run makes them again whatever the file then says", async () => {
    const resources = [resource(config, { node: "cp-1" }), resource(gate, { drift: [] }), resource(server, { id: 1 })];
    const pending_operations = [config, server].map((type) => ({ type: "updating", resource: resource(type, {}) }));
    const { deployment } = await mark({ resources, pending_operations });
    expect(deployment.resources).toEqual([
      resource(config, { node: "cp-1", isUnfinished: true }),
      resource(gate, { drift: [] }),
      resource(server, { id: 1 }),
    ]);
    expect(deployment.pending_operations).toEqual(pending_operations);
  });

  test("are not marked on the old resource that a replacement is to delete", async () => {
    const resources = [resource(config, {}, { delete: true }), resource(config, {})];
    const pending_operations = [{ type: "updating", resource: resource(config, {}) }];
    const { deployment } = await mark({ resources, pending_operations });
    expect(deployment.resources).toEqual([
      resource(config, {}, { delete: true }),
      resource(config, { isUnfinished: true }),
    ]);
  });

  test("cost nothing where there are none", async () => {
    const pending_operations = [
      { type: "creating", resource: resource(config, {}) },
      { type: "updating", resource: resource(server, {}) },
    ];
    expect((await mark({ resources: [], pending_operations })).calls).toEqual([]);
  });
});
