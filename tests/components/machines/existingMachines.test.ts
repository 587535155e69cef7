import { describe, expect, test } from "@jest/globals";
import { ExistingMachines } from "../../../components/machines/existingMachines.ts";
import { record, title, unwrap } from "../../support/mocks.ts";

const nodes = [
  { name: "cp-1", role: "controlplane", address: "10.0.0.11", uuid: "the-uuid", mac: "02:00:00:00:00:0b" },
  { name: "w-1", role: "worker", address: "10.0.0.21", reach: "w-1.example.org", mac: "02:00:00:00:00:15" },
  { name: "w-2", role: "worker", address: "10.0.0.22" },
] as const;
const make = (preview = false) => record(() => new ExistingMachines("rack", { nodes }), { preview });

describe("machines that are already there", () => {
  test("S3.1 have nothing made for them, and so nothing deleted", async () => {
    const { resources } = await make();
    expect(resources.map(title)).toEqual(["sluice:machines:ExistingMachines rack"]);
  });

  test("U2 S1.1 are as the list says, in a preview too: where they are reached, and what they are known by", async () => {
    const { result } = await make(true);
    const machines = await Promise.all(
      result.machines.map(async ({ reach, identity, machineId, ...plain }) => ({
        ...plain,
        reach: (await unwrap(reach)).value,
        identity: (await unwrap(identity)).value,
        machineId: (await unwrap(machineId)).value,
      })),
    );
    const mac = "02:00:00:00:00:15";
    expect(machines).toEqual([
      {
        ...{ name: "cp-1", role: "controlplane", address: "10.0.0.11", reach: "10.0.0.11" },
        identity: { mac: "02:00:00:00:00:0b", uuid: "the-uuid" },
        machineId: "the-uuid",
      },
      {
        ...{ name: "w-1", role: "worker", address: "10.0.0.21", reach: "w-1.example.org" },
        ...{ identity: { mac }, machineId: mac },
      },
      {
        ...{ name: "w-2", role: "worker", address: "10.0.0.22", reach: "10.0.0.22" },
        ...{ identity: {}, machineId: "10.0.0.22" },
      },
    ]);
  });
});
