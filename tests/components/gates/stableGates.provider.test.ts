import { describe, expect, test } from "@jest/globals";
import { OpenGate } from "../../../components/gates/openGate.ts";
import { OpenGates } from "../../../components/gates/openGates.ts";
import { operations } from "../../../components/gates/stableGates.provider.ts";
import { SteppedClock, settled } from "./steppedClock.ts";

const inputs = { openings: { etcd: "a", "gitops-ready": "b" }, row: "urn:of:it" };

function world() {
  const gates = new OpenGates();
  const clock = new SteppedClock();
  const context = { clock, gates, random: Math.random, report: () => undefined, note: async () => undefined };
  return { gates, context };
}

describe("S3.2 S10.1 the end of the chain", () => {
  test("is reached when every gate that has opened is proven, and names these", async () => {
    const { gates, context } = world();
    const { promise, resolve } = Promise.withResolvers<void>();
    gates.add("b", new OpenGate("GitOpsReady", promise));
    let state: unknown;
    void operations.create(inputs, context).then((made) => {
      state = made;
    });
    await settled();
    expect(state).toBeUndefined();
    resolve();
    await settled();
    expect(state).toEqual({ ...inputs, proved: ["b"] });
  });

  test("is not reached if a gate has failed since it opened", async () => {
    const { gates, context } = world();
    gates.add("b", new OpenGate("GitOpsReady", Promise.reject(new Error("gate GitOpsReady opened, and then failed"))));
    await expect(operations.create(inputs, context)).rejects.toThrow("gate GitOpsReady opened, and then failed");
  });

  test("is waited for again when a gate has run again, and only then", () => {
    const state = { ...inputs, proved: ["b"] };
    expect(operations.difference(state, inputs)).toEqual({ kind: "none" });
    const again = { ...inputs, openings: { ...inputs.openings, etcd: "c" } };
    expect(operations.difference(state, again)).toEqual({ kind: "update" });
  });
});
