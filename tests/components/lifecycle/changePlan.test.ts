import { describe, expect, test } from "@jest/globals";
import {
  inWords,
  type MachineEntries,
  type MachineEntry,
  machineChanges,
  moves,
  takeovers,
} from "../../../components/lifecycle/changePlan.ts";
import { hetznerPlatform } from "../../../components/machines/hetzner/hetznerPlatform.ts";
import { proxmoxPlatform } from "../../../components/machines/proxmox/proxmoxPlatform.ts";

const traits = { ...hetznerPlatform.machineTraits, ...proxmoxPlatform.machineTraits };

const server = (address: string, changes: Partial<MachineEntry> = {}): MachineEntry => ({
  ...{ role: "controlplane", address, serverType: "cx23", location: "fsn1" },
  ...changes,
});
const was: MachineEntries = { "cp-1": server("10.0.1.11"), "w-1": server("10.0.1.21", { role: "worker" }) };
const words = (is: MachineEntries, before = was) => machineChanges(before, is, traits).map(inWords);

describe("the planned changes of machines", () => {
  test("are none while entries stay unchanged, and when nodes are added or removed", () => {
    expect(words(was)).toEqual([]);
    expect(words({ "cp-1": server("10.0.1.11"), "cp-2": server("10.0.1.12") })).toEqual([]);
  });

  test.each<[string, MachineEntry, MachineEntry, string]>([
    [
      "another type",
      server("10.0.1.11"),
      server("10.0.1.11", { serverType: "cx33" }),
      "cp-1 is turned off for a change of its type: cx23 -> cx33",
    ],
    [
      "another location",
      server("10.0.1.11"),
      server("10.0.1.11", { location: "nbg1" }),
      "cp-1 is recreated for a change of its location: fsn1 -> nbg1",
    ],
    [
      "both, of which only the greater matters",
      server("10.0.1.11"),
      server("10.0.1.11", { serverType: "cx33", location: "nbg1" }),
      "cp-1 is recreated for a change of its location: fsn1 -> nbg1",
    ],
    [
      "another VM id",
      { role: "controlplane", address: "10.0.0.11", vmId: 300 },
      { role: "controlplane", address: "10.0.0.11", vmId: 400 },
      "cp-1 is recreated for a change of its VM id: 300 -> 400",
    ],
  ])("are named for %s", (_, before, after, said) => {
    expect(words({ "cp-1": after }, { "cp-1": before })).toEqual([said]);
  });

  test("are unknown for a property that one of the lists does not have", () => {
    expect(machineChanges({ "cp-1": {} }, was, traits)).toEqual([]);
  });
});

describe("a renamed node", () => {
  test.each([
    ["address", { "w-9": server("10.0.1.21") }, "address 10.0.1.21"],
    ["VM id", { "w-9": { ...server("10.0.1.29"), vmId: 303 } }, "VM id 303"],
  ])("needs the %s of the one that leaves", (_, comes, said) => {
    const before: MachineEntries = { ...was, "w-1": { ...server("10.0.1.21"), vmId: 303 } };
    const after: MachineEntries = { "cp-1": server("10.0.1.11"), ...comes };
    expect(takeovers(before, after, traits)).toEqual([{ node: "w-9", from: "w-1", words: said }]);
  });

  test("needs nothing of another node at its own address, or while no node leaves", () => {
    expect(takeovers(was, { "cp-1": server("10.0.1.11"), "w-9": server("10.0.1.29") }, traits)).toEqual([]);
    expect(takeovers(was, { ...was, "w-9": server("10.0.1.29") }, traits)).toEqual([]);
  });
});

describe("a node at another address", () => {
  const at = (address: string, identity?: string): MachineEntries => ({
    "w-1": { role: "worker", address, ...(identity !== undefined && { identity }) },
  });

  test("is the same machine on every platform", () => {
    expect(moves(at("10.0.0.21"), at("10.0.0.22")).map(({ node }) => node)).toEqual(["w-1"]);
    expect(moves(at("10.0.0.21", "a"), at("10.0.0.22", "a")).map(({ node }) => node)).toEqual(["w-1"]);
  });

  test("is another machine if the list says so, or identifies it only by its address", () => {
    expect(moves(at("10.0.0.21", "a"), at("10.0.0.22", "b"))).toEqual([]);
    expect(moves(at("10.0.0.21", ""), at("10.0.0.22", ""))).toEqual([]);
  });
});
