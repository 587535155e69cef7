import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { operations, type ReleaseInputs } from "../../../components/machines/releaseMachines.ts";
import { config, credentials, FakeWorld, refusal } from "../talos/fakeNodes.ts";

const names = ["cp-1", "w-1"];
const inputs: ReleaseInputs = {
  nodes: names.map((node) => ({ node, endpoint: node, identity: { uuid: "the-uuid" } })),
  credentials,
  reset: true,
  deadline: 120,
  row: "the urn",
};

function cluster(): FakeWorld {
  const world = new FakeWorld();
  for (const name of names) world.add(name).runs(config());
  return world;
}

const node = (world: FakeWorld, name: string) => {
  const found = world.nodes.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const calls = (world: FakeWorld) => names.map((name) => node(world, name).calls);
const failure = (made: Promise<unknown>) =>
  made.then(
    () => "it succeeded",
    ({ message }: Error) => message,
  );
const raise = (error: Error) => () => {
  throw error;
};

describe("machines whose cluster is destroyed", () => {
  test("are left as they are, which is said, unless they are to be reset", async () => {
    const world = cluster();
    await operations.remove({ ...inputs, reset: false }, world);
    expect(calls(world)).toEqual([[], []]);
    expect(world.noted).toEqual([expect.stringMatching(/^cp-1, w-1: nothing is done to these machines/)]);
  });

  test("are reset, all of them, and seen in maintenance", async () => {
    const world = cluster();
    await operations.remove(inputs, world);
    expect(calls(world)).toEqual([["reset"], ["reset"]]);
    expect(names.map((name) => node(world, name).kind)).toEqual(["maintenance", "maintenance"]);
    expect(world.noted).toEqual([]);
  });

  test("S1.6 are left alone where they are in maintenance already", async () => {
    const world = cluster();
    node(world, "w-1").kind = "maintenance";
    await operations.remove(inputs, world);
    expect(calls(world)).toEqual([["reset"], []]);
  });

  test.each([
    ["foreign", "w-1 was not reset: it belongs to another cluster"],
    ["unreachable", "w-1 was not reset: it does not answer (no answer)"],
  ] as const)("S4.7 do not hold up its end when one is %s: what is left is named", async (kind, said) => {
    const world = cluster();
    node(world, "w-1").kind = kind;
    const began = world.clock.now();
    await operations.remove(inputs, world);
    expect(calls(world)).toEqual([["reset"], []]);
    expect(world.noted).toEqual([expect.stringContaining(`${said}`)]);
    expect(world.clock.now() - began).toBeLessThanOrEqual(35_000);
  });

  test("are not reset where another machine is at their address", async () => {
    const world = cluster();
    node(world, "w-1").uuid = "another";
    await operations.remove(inputs, world);
    expect(calls(world)).toEqual([["reset"], []]);
    expect(world.noted).toEqual([expect.stringContaining("w-1 was not reset: another machine is at its address")]);
  });

  test("hold it up where one is there and refuses, in its own words, and the others are reset all the same", async () => {
    const world = cluster();
    node(world, "w-1").fail("reset", raise(refusal(status.PERMISSION_DENIED, "not authorized")));
    const message = await failure(operations.remove(inputs, world));
    expect(message).toMatch(/^SLU-M104 /);
    expect(message).toContain("w-1");
    expect(message).toContain("not authorized");
    expect(message).not.toContain("MARKER");
    expect(node(world, "cp-1").kind).toBe("maintenance");
  });
});

describe("what becomes of machines", () => {
  test("U2 is told offline, and changes when the machines or the choice do", () => {
    expect(operations.diff(inputs, { ...inputs, row: "another" })).toEqual({ changes: false });
    expect(operations.diff(inputs, { ...inputs, reset: false })).toEqual({ changes: true });
    expect(operations.diff(inputs, { ...inputs, nodes: inputs.nodes.slice(1) })).toEqual({ changes: true });
  });
});
