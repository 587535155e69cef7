import { beforeEach, describe, expect, test } from "@jest/globals";
import { OpenGate } from "../../../components/gates/openGate.ts";
import { OpenGates, proveAll } from "../../../components/gates/openGates.ts";
import { settled } from "./steppedClock.ts";

let gates: OpenGates;

/** A gate that has opened, and the functions that end its window. */
function opened(name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { gate: new OpenGate(name, promise), prove: () => resolve(), fail: (error: Error) => reject(error) };
}

/** In the state, and not to be observed. */
const never = {
  name: "Etcd",
  observe: () => {
    throw new Error("observed");
  },
};

const unproven = (isBelow = (_: string) => true) =>
  [...gates.unproven(isBelow)].map(([opening, { name }]) => `${opening} ${name}`);

describe("S3.2 S10.1 the gates that have opened", () => {
  beforeEach(() => {
    gates = new OpenGates();
  });

  test("have to be proven before the next one opens, and once", async () => {
    const [etcd, services] = [opened("Etcd"), opened("TalosServices")];
    gates.add("a", etcd.gate);
    gates.add("b", services.gate);
    expect(unproven()).toEqual(["a Etcd", "b TalosServices"]);
    etcd.prove();
    await settled();
    expect(unproven()).toEqual(["b TalosServices"]);
  });

  test("are observed again if an earlier run ended before their window did, but not before a gate needs that", () => {
    const observed: string[] = [];
    const observe = () => {
      observed.push("Etcd");
      return opened("Etcd").gate;
    };
    gates.record("a", { name: "Etcd", observe });
    expect(observed).toEqual([]);
    expect(unproven()).toEqual(["a Etcd"]);
    expect(unproven()).toEqual(["a Etcd"]);
    expect(observed).toEqual(["Etcd"]);
  });

  test("are not observed again if a later gate has proven them, or if they run again themselves", () => {
    gates.record("a", never);
    gates.record("b", never);
    gates.recordProof(["a"]);
    gates.forget("b");
    expect(unproven()).toEqual([]);
  });

  test("are waited for by the gates above them alone, also if the engine compared those first", () => {
    gates.record("b", never);
    gates.add("a", opened("Preflight").gate);
    gates.add("c", opened("GitOpsReady").gate);
    expect(unproven((name) => name === "Preflight")).toEqual(["a Preflight"]);
  });

  test("are waited for together, with what each waits for and how long it took", async () => {
    const [etcd, services] = [opened("Etcd"), opened("TalosServices")];
    gates.add("a", etcd.gate);
    gates.add("b", services.gate);
    const told: string[] = [];
    let now = 1_000;
    const waited = proveAll(
      gates.unproven(() => true),
      (text) => told.push(text),
      () => now,
    );
    services.gate.report("w-1: kubelet is Failed; waits for all Talos services to be healthy on every node");
    services.prove();
    etcd.prove();
    now = 3_500;
    expect(await waited).toBe(2.5);
    expect(told.at(-1)).toBe(
      "TalosServices has opened: w-1: kubelet is Failed; waits for all Talos services to be healthy on every node",
    );
  });

  test("fail whoever waits for them, then and later", async () => {
    const etcd = opened("Etcd");
    gates.add("a", etcd.gate);
    etcd.fail(new Error("gate Etcd opened, and then failed"));
    const prove = () =>
      proveAll(
        gates.unproven(() => true),
        () => undefined,
        () => 0,
      );
    await expect(prove()).rejects.toThrow("gate Etcd opened, and then failed");
    await expect(prove()).rejects.toThrow("gate Etcd opened, and then failed");
  });
});
