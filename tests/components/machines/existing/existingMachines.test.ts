import { describe, expect, test } from "@jest/globals";
import { ExistingMachines } from "../../../../components/machines/existing/existingMachines.ts";
import { record, title, unwrap } from "../../../support/mocks.ts";

const nodes = [
  { name: "cp-1", role: "controlplane", address: "10.0.0.11", uuid: "the-uuid", mac: "02:00:00:00:00:0b" },
  { name: "w-1", role: "worker", address: "10.0.0.21", reach: "w-1.example.org", mac: "02:00:00:00:00:15" },
  { name: "w-2", role: "worker", address: "10.0.0.22" },
] as const;
const make = (preview = false) => record(() => new ExistingMachines("rack", { nodes }), { preview });

describe("existing machines", () => {
  test("S3.1 create no resource, and so delete none", async () => {
    const { resources } = await make();
    expect(resources.map(title)).toEqual(["sluice:machines:ExistingMachines rack"]);
  });

  test("U2 S1.1 have the list's addresses and identities, in a preview too", async () => {
    const { result } = await make(true);
    const machines = await Promise.all(
      result.machines.map(async ({ talosAddress, identity, machineId, ...plain }) => ({
        ...plain,
        talosAddress: (await unwrap(talosAddress)).value,
        identity: (await unwrap(identity)).value,
        machineId: (await unwrap(machineId)).value,
      })),
    );
    const mac = "02:00:00:00:00:15";
    expect(machines).toEqual([
      {
        ...{ name: "cp-1", role: "controlplane", address: "10.0.0.11", talosAddress: "10.0.0.11" },
        identity: { mac: "02:00:00:00:00:0b", uuid: "the-uuid" },
        machineId: "the-uuid",
      },
      {
        ...{ name: "w-1", role: "worker", address: "10.0.0.21", talosAddress: "w-1.example.org" },
        ...{ identity: { mac }, machineId: mac },
      },
      {
        ...{ name: "w-2", role: "worker", address: "10.0.0.22", talosAddress: "10.0.0.22" },
        ...{ identity: {}, machineId: "10.0.0.22" },
      },
    ]);
  });
});
