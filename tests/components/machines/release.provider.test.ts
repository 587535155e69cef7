import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { operations, type ReleaseInputs } from "../../../components/machines/release.provider.ts";
import { config, credentials, FakeWorld, failure, raise, refusal } from "../talos/fakeNodes.ts";

const names = ["cp-1", "w-1"];
const inputs: ReleaseInputs = {
  nodes: names.map((name) => ({ name, talosAddress: name, identity: { uuid: "the-uuid" } })),
  credentials,
  reset: true,
  deadlineSeconds: 120,
  row: "the urn",
};

function cluster(): FakeWorld {
  const context = new FakeWorld();
  for (const name of names) context.add(name).runs(config());
  return context;
}

const calls = (context: FakeWorld) => names.map((name) => context.node(name).calls);

describe("machines whose cluster is destroyed", () => {
  test("are left as they are, which destroy reports, without resetOnDestroy [C11]", async () => {
    const context = cluster();
    await operations.delete({ ...inputs, reset: false }, context);
    expect(calls(context)).toEqual([[], []]);
    expect(context.noted).toEqual([expect.stringMatching(/^cp-1, w-1: nothing is done to these machines/)]);
  });

  test("are all reset, and observed in maintenance", async () => {
    const context = cluster();
    await operations.delete(inputs, context);
    expect(calls(context)).toEqual([["reset"], ["reset"]]);
    expect(names.map((name) => context.node(name).kind)).toEqual(["maintenance", "maintenance"]);
    expect(context.noted).toEqual([]);
  });

  test("S1.6 are left alone if they are already in maintenance", async () => {
    const context = cluster();
    context.node("w-1").kind = "maintenance";
    await operations.delete(inputs, context);
    expect(calls(context)).toEqual([["reset"], []]);
  });

  test.each([
    ["foreign", "w-1 was not reset: it belongs to another cluster"],
    ["unreachable", "w-1 was not reset: it does not answer (no answer)"],
  ] as const)("S4.7 do not block destroy when one is %s: what is left is named", async (kind, said) => {
    const context = cluster();
    context.node("w-1").kind = kind;
    const began = context.clock.now();
    await operations.delete(inputs, context);
    expect(calls(context)).toEqual([["reset"], []]);
    expect(context.noted).toEqual([expect.stringContaining(`${said}`)]);
    expect(context.clock.now() - began).toBeLessThanOrEqual(35_000);
  });

  test("are not reset if another machine is at their address [C11]", async () => {
    const context = cluster();
    context.node("w-1").uuid = "another";
    await operations.delete(inputs, context);
    expect(calls(context)).toEqual([["reset"], []]);
    expect(context.noted).toEqual([expect.stringContaining("w-1 was not reset: another machine is at its address")]);
  });

  test("fail destroy if one of ours refuses, in its own words, and the others are still reset", async () => {
    const context = cluster();
    context.node("w-1").fail("reset", raise(refusal(status.PERMISSION_DENIED, "not authorized")));
    const message = await failure(operations.delete(inputs, context));
    expect(message).toMatch(/^SLU-M104 /);
    expect(message).toContain("w-1");
    expect(message).toContain("not authorized");
    expect(message).not.toContain("MARKER");
    expect(context.node("cp-1").kind).toBe("maintenance");
  });
});

describe("the release of machines", () => {
  test("U2 is shown offline, and changes when the machines or the setting do", () => {
    expect(operations.difference(inputs, { ...inputs, row: "another" })).toEqual({ kind: "none" });
    expect(operations.difference(inputs, { ...inputs, reset: false })).toEqual({ kind: "record" });
    expect(operations.difference(inputs, { ...inputs, nodes: inputs.nodes.slice(1) })).toEqual({ kind: "record" });
  });
});
