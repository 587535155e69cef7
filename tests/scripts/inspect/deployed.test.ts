import { expect, test } from "@jest/globals";
import { deployedNodes } from "../../../scripts/inspect/deployed.ts";

const secret = (value: unknown) => ({ plaintext: JSON.stringify(value) });
const credentials = { ca: "a", crt: "b", key: "c" };
const node = (name: string, role: string, type = "AppliedMachineConfig") => ({
  type: `pulumi-nodejs:dynamic/talos:${type}`,
  outputs: {
    ...{ node: name, role, talosAddress: `203.0.113.${name.length}`, address: "10.0.0.1", imageSchematic: "abc" },
    ...{ credentials: secret(credentials), machineConfiguration: secret("machine: {}") },
  },
});

test("the nodes of a state are those that got their config, control planes first, by their numbers", () => {
  const resources = [
    { type: "hcloud:index/server:Server", outputs: { name: "dev-cp-1" } },
    ...[node("w-10", "worker"), node("w-2", "worker"), node("cp-1", "controlplane", "NodeConfiguration")],
  ];
  const nodes = deployedNodes({ deployment: { resources } });
  expect(nodes.map(({ name }) => name)).toEqual(["cp-1", "w-2", "w-10"]);
  expect(nodes[0]).toEqual({
    ...{ name: "cp-1", role: "controlplane", talosAddress: "203.0.113.4", address: "10.0.0.1", credentials },
    ...{ imageSchematic: "abc", machineConfiguration: "machine: {}" },
  });
});

test("a state in which nothing is deployed has no nodes", () => {
  expect(deployedNodes({ deployment: {} })).toEqual([]);
});
